import { invalid, type McpServerConfig } from "./config/server-config.ts";
import { createMcpSource, type McpSource, type McpSourceOptions } from "./mcp-source.ts";

const CONFIG = "in the config";

/**
 * Reads a whole config block as other clients have it (`mcpServers`, or `servers` of VS Code), text or
 * object, into one source for each server that is not disabled. Nothing is started.
 */
export function fromMcpConfig(json: unknown, options: McpSourceOptions = {}): McpSource[] {
  const block = typeof json === "string" ? parse(json) : json;
  if (!isRecord(block)) throw invalid(CONFIG, "it is not a JSON object");
  const servers = block.mcpServers ?? block.servers ?? (isRecord(block.mcp) ? block.mcp.servers : undefined);
  if (!isRecord(servers)) throw invalid(CONFIG, "it has neither mcpServers nor servers");
  const taken = new Set<string>();
  return Object.entries(servers)
    .filter(([, config]) => !isRecord(config) || config.disabled !== true)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, config]) =>
      // What is wrong with the config is said by the source itself.
      createMcpSource(freeLabel(name, taken), config as McpServerConfig, options),
    );
}

/** Names of servers are free text; a label is the beginning of a route. */
function freeLabel(name: string, taken: Set<string>): string {
  const words = name.match(/[A-Za-z0-9_]+/g) ?? [];
  const joined = words.join("-").slice(0, 48);
  const plain = /^[a-z]/i.test(joined) ? joined : `server-${joined || "unnamed"}`;
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
