import { createGateway } from "../gateway.ts";
import type { Gateway } from "../gateway-api.ts";
import type { Entry } from "../schema/entry.ts";
import { problem } from "../schema/problem.ts";
import { nearest } from "../util/nearest.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { listServers } from "./list-servers.ts";
import { openFilledConfig } from "./open-config.ts";

export interface OpenedCatalog {
  readonly gateway: Gateway;
  /** The entries of the named domains, or all. */
  readonly entries: readonly Entry[];
  close(): Promise<void>;
}

/**
 * Opens the catalog of a config to look at it: definitions are read as their servers give them, also unapproved ones,
 * and nothing of it is called.
 *
 * @throws INVALID_INPUT for a domain that is not there.
 */
export async function openCatalog(
  command: string,
  config: string | undefined,
  domains: readonly string[],
): Promise<OpenedCatalog> {
  const { options } = await openFilledConfig({ config, readsOnly: true });
  const { pins: _, ...others } = options;
  const gateway = createGateway({ ...others, learning: false });
  const failures = await listServers(gateway);
  for (const reason of failures.values()) console.error(toVisibleLine(reason));
  const { entries } = await gateway.view();
  const known = [...new Set(entries.map(({ domain }) => domain))];
  for (const name of domains) {
    if (known.includes(name)) continue;
    await gateway.close();
    const [near] = nearest(name, known);
    const reason = `server ${toVisibleLine(name)} not found; ${near ? `nearest: ${near}` : `known: ${known.join(", ") || "none"}`}`;
    throw problem("INVALID_INPUT", { operation: command, reason });
  }
  return {
    gateway,
    entries: entries.filter(({ domain }) => domains.length === 0 || domains.includes(domain)),
    close: () => gateway.close(),
  };
}
