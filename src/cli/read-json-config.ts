import { readFile } from "node:fs/promises";
import { isProblem, problem } from "../schema/problem.ts";
import { readServerConfig } from "../sources/mcp/config/server-config.ts";
import { fromMcpConfig } from "../sources/mcp/from-mcp-config.ts";
import type { McpSource, McpSourceOptions } from "../sources/mcp/mcp-source.ts";
import { field, isFields } from "../util/fields.ts";
import { findSlip } from "../util/find-slip.ts";
import { type ParsedJsonc, type Position, parseJsonc } from "../util/parse-jsonc.ts";
import { reasonOf } from "../util/reason-of.ts";

type Parsed = Extract<ParsedJsonc, { ok: true }>;

/** The paths under which configs of MCP clients list their servers. */
const PLACES: readonly (readonly string[])[] = [["mcpServers"], ["servers"], ["mcp", "servers"]];
const ROOTS = ["mcpServers", "servers"];
const FIELDS = ["command", "args", "env", "cwd", "url", "headers", "type", "timeoutMs", "disabled"];

/**
 * Reads the JSON config of an MCP client: one source for each server.
 *
 * @throws CONFIG_INVALID with the line and column of the mistake.
 */
export async function readJsonConfig(path: string, options: McpSourceOptions): Promise<McpSource[]> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw problem("CONFIG_INVALID", { path, reason: reasonOf(error) });
  });
  const plain = readPlain(text);
  if (plain) return fromMcpConfig(plain, options);
  const parsed = await parseJsonc(text);
  if (!parsed.ok) throw wrongAt(path, parsed.position, parsed.reason);
  const place = PLACES.find((candidate) => isFields(valueAt(parsed.value, candidate)));
  if (!place) throw withoutServers(path, parsed);
  for (const [name, config] of Object.entries(valueAt(parsed.value, place) as object)) {
    if (isFields(config) && config.disabled === true) continue;
    try {
      readServerConfig(name, config);
    } catch (error) {
      throw wrongServer(path, parsed, [...place, name], config, error);
    }
  }
  return fromMcpConfig(parsed.value, options);
}

/** Reads a correct plain JSON config, the usual case, without the parser that knows positions. */
function readPlain(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const place = PLACES.find((candidate) => isFields(valueAt(value, candidate)));
    if (!place) return undefined;
    for (const [name, config] of Object.entries(valueAt(value, place) as object)) {
      if (!isFields(config) || config.disabled !== true) readServerConfig(name, config);
    }
    return value as object;
  } catch {
    return undefined;
  }
}

function withoutServers(path: string, { value, positionOf }: Parsed) {
  const keys = isFields(value) ? Object.keys(value) : [];
  const given = keys.find((key) => ROOTS.includes(key)) ?? findSlip(keys, ROOTS)?.given;
  const hint = given === undefined ? "" : `; ${JSON.stringify(given)} is close, and must be an object`;
  const reason = `it has neither mcpServers nor servers${hint}`;
  return wrongAt(path, positionOf(given === undefined ? [] : [given]), reason);
}

/** Points at a misspelt field rather than at the missing one, because it is the likelier cause. */
function wrongServer(
  path: string,
  parsed: Parsed,
  place: readonly string[],
  config: unknown,
  error: unknown,
) {
  const reason = isProblem(error) ? String(error.details.reason) : reasonOf(error);
  const keys = isFields(config) ? Object.keys(config) : [];
  const slip = findSlip(keys, FIELDS);
  const hint = slip ? `; the field nearest to ${JSON.stringify(slip.given)} is ${slip.meant}` : "";
  const position = parsed.positionOf(slip ? [...place, slip.given] : place);
  return wrongAt(path, position, `the server ${JSON.stringify(place.at(-1))}: ${reason}${hint}`);
}

function wrongAt(path: string, { line, column }: Position, reason: string) {
  return problem("CONFIG_INVALID", { path: `${path}:${line}:${column}`, reason }, { line, column });
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce(field, value);
}
