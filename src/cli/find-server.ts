import { problem } from "../schema/problem.ts";
import type { McpSource } from "../sources/mcp/mcp-source.ts";
import { openConfig } from "./open-config.ts";
import { FLAG, readWordsAndArgs, TEXT } from "./read-args.ts";

export interface ServerArgs {
  readonly label: string | undefined;
  readonly config: string | undefined;
  readonly open: boolean;
  readonly timeout: string | undefined;
  readonly help: boolean;
}

/** Reads the arguments of a command about one server. */
export function readServerArgs(command: string, args: readonly string[]): ServerArgs {
  const { values, positionals } = readWordsAndArgs(command, args, {
    config: TEXT,
    open: FLAG,
    timeout: TEXT,
  });
  const { config, open, timeout, help } = values;
  return { label: positionals[0], config, open, timeout, help };
}

/**
 * Finds the config's server of that label. It shares its logins with `keyhole serve`.
 *
 * @throws INVALID_INPUT if the label is missing or unknown.
 */
export async function findServer(command: string, { label, config }: ServerArgs): Promise<McpSource> {
  const { sources } = (await openConfig({ config })).options;
  const servers = sources.filter((source): source is McpSource => "logIn" in source);
  const server = servers.find(({ id }) => id === `mcp:${label}`);
  if (server) return server;
  const labels = servers.map(({ id }) => id.slice("mcp:".length)).join(", ") || "none";
  const reason = label === undefined ? "the server's label is missing" : `server ${label} not found`;
  throw problem("INVALID_INPUT", {
    operation: command,
    reason: `${reason}; servers in the config: ${labels}`,
  });
}
