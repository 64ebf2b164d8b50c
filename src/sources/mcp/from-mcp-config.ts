import { isFields } from "../../util/fields.ts";
import { readOverride, readProfile, serversOf } from "./config/overrides.ts";
import { invalid, isSwitchedOff, type McpServerConfig } from "./config/server-config.ts";
import { createMcpSource, type McpSource, type McpSourceOptions } from "./mcp-source.ts";

const CONFIG = "in the config";

/**
 * Creates one source for each enabled server of a config block of another client (`mcpServers`, or `servers` of
 * VS Code), given as text or object. `overrides` of the block replace names, descriptions and lanes, and hide tools.
 * Starts nothing; the gateway does.
 *
 * @throws SERVER_CONFIG_INVALID with every error in the config. INVALID_INPUT if the profile is not there
 * @example
 * ```ts
 * import { fromMcpConfig } from "keyhole/sources";
 *
 * const sources = fromMcpConfig({ mcpServers: { files: { command: "npx", args: ["-y", "files-server"] } } });
 * console.assert(sources[0]?.id === "mcp:files");
 * ```
 */
export function fromMcpConfig(json: unknown, options: McpSourceOptions = {}): McpSource[] {
  const block = typeof json === "string" ? parse(json) : json;
  if (!isFields(block)) throw invalid(CONFIG, "it is not a JSON object");
  const servers = block.mcpServers ?? block.servers ?? (isFields(block.mcp) ? block.mcp.servers : undefined);
  if (!isFields(servers)) throw invalid(CONFIG, "it has neither mcpServers nor servers");
  const { profile, ...shared } = options;
  const chosen = profile === undefined ? servers : serversOf(servers, readProfile(block.profiles, profile));
  const taken = new Set<string>();
  return Object.entries(chosen)
    .filter(([, config]) => !isSwitchedOff(config))
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, config]) =>
      // The source itself reports errors in its config.
      createMcpSource(freeLabel(name, taken), config as McpServerConfig, {
        ...shared,
        ...readOverride(block.overrides, name),
      }),
    );
}

/** Turns a server name (free text) into a label (the start of a route). */
export function toLabel(name: string): string {
  const words = name.match(/[A-Za-z0-9_]+/g) ?? [];
  const joined = words.join("-").slice(0, 48);
  return /^[a-z]/i.test(joined) ? joined : `server-${joined || "unnamed"}`;
}

function freeLabel(name: string, taken: Set<string>): string {
  const plain = toLabel(name);
  let label = plain;
  for (let count = 2; taken.has(label); count += 1) label = `${plain}-${count}`;
  taken.add(label);
  return label;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(CONFIG, "it is not JSON");
  }
}
