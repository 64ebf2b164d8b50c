import { problem } from "../../base/problems/problem.ts";
import type { Json } from "../../base/util/json.ts";
import { field, fieldsOf, isPlainObject, listOf } from "../../base/util/plain-object.ts";
import type { AskWord, ServerChange, ServerRulesShown } from "../../faces/http/endpoints/api-types.ts";
import type { ServerEditor } from "../../faces/http/endpoints/console-parts.ts";
import { isSwitchedOff } from "../../sources/mcp/config/server-config.ts";
import { toLabel } from "../../sources/mcp/mcp-source.ts";
import { checkServer } from "../../sources/servers/server-kinds.ts";
import { readSettingsFile } from "./read-settings-file.ts";
import { saveSetting } from "./save-setting.ts";

/** Changes servers in a JSON config, as a person at the console wants it. Gateways that run follow the file. */
export function createServerEditor(file: string): ServerEditor {
  return {
    rulesOf: async (label) => {
      const { servers, overrides } = await readServers(file);
      const server = servers[label];
      return isPlainObject(server) ? { file, ...toRules(server, overrides[label]) } : undefined;
    },
    off: async () => {
      const { servers } = await readServers(file);
      return Object.keys(servers).filter((label) => isSwitchedOff(servers[label]));
    },
    change: (label, change) => changeServer(file, label, change),
  };
}

/** The servers of a file, those among them that stand under its other name, their overrides and the profiles. */
export async function readServers(file: string) {
  const read = await readSettingsFile(file);
  const { mcpServers = {}, profiles = {}, overrides = {} } = read.state === "read" ? read.value : {};
  const others = read.state === "read" ? fieldsOf(read.written.servers) : {};
  const servers: Readonly<Record<string, unknown>> = mcpServers;
  const pathOf = (label: string) => `${Object.hasOwn(others, label) ? "servers" : "mcpServers"}.${label}`;
  return { servers, profiles, overrides, pathOf };
}

/** Removes a server from a file and its profiles. */
export async function removeServer(file: string, label: string): Promise<void> {
  const { profiles, overrides, pathOf } = await readServers(file);
  const users = Object.keys(profiles).filter(
    (profile) => field(field(profiles[profile], "servers"), label) !== undefined,
  );
  for (const profile of users) await saveSetting(`profiles.${profile}.servers.${label}`, undefined, { file });
  if (Object.hasOwn(overrides, label)) await saveSetting(`overrides.${label}`, undefined, { file });
  await saveSetting(pathOf(label), undefined, { file });
}

async function changeServer(file: string, label: string, change: ServerChange): Promise<void> {
  const { servers, overrides, pathOf } = await readServers(file);
  const save = (name: string, value: Json | undefined) => saveSetting(name, value, { file });
  const path = pathOf(label);
  const server = servers[label];
  const { add, edit, remove, disabled, hide, ask, rename } = change;
  if (add !== undefined) {
    if (server !== undefined) throw wrong(`the server ${label} exists`);
    if (label !== toLabel(label))
      throw wrong("a name has letters, digits, hyphens and underscores, and begins with a letter");
    return save(path, checked(label, toConfig(add)));
  }
  if (!isPlainObject(server)) throw wrong(`${file} has no server ${label}`);
  if (remove) return removeServer(file, label);
  if (edit !== undefined) {
    const { command: _, args: __, url: ___, ...rest } = server as Record<string, Json>;
    const { env, ...program } = toConfig(edit);
    const variables = env && { env: { ...fieldsOf(rest.env), ...fieldsOf(env) } as Json };
    return save(path, checked(label, { ...rest, ...program, ...variables }));
  }
  if (disabled !== undefined) {
    if (field(server, "enabled") !== undefined) await save(`${path}.enabled`, undefined);
    await save(`${path}.disabled`, disabled || undefined);
  }
  if (hide) {
    const others = hiddenOf(server).filter((tool) => tool !== hide.tool);
    await save(`${path}.excludeTools`, hide.hidden ? [...others, hide.tool] : others);
  }
  if (ask?.tool === undefined && ask) await save(`${path}.ask`, ask.when);
  if (ask?.tool !== undefined) {
    const { [ask.tool]: _, ...others } = asksOf(server);
    await save(`${path}.askTools`, ask.when ? { ...others, [ask.tool]: ask.when } : others);
  }
  if (rename) {
    const tools = fieldsOf(field(overrides[label], "tools")) as Record<string, Json>;
    const { name: _, ...words } = fieldsOf(tools[rename.tool]) as Record<string, Json>;
    const renamed = { ...words, ...(rename.name && { name: rename.name }) };
    await save(`overrides.${label}.tools`, { ...tools, [rename.tool]: renamed });
  }
}

function checked(label: string, config: Record<string, Json>): Record<string, Json> {
  checkServer(label, config);
  return config;
}

function toRules(server: object, override: unknown): Omit<ServerRulesShown, "file"> {
  const ask = field(server, "ask");
  const line = toLine(server);
  const names = Object.entries(fieldsOf(field(override, "tools"))).flatMap(([tool, words]) => {
    const name = field(words, "name");
    return typeof name === "string" ? [[tool, name]] : [];
  });
  return {
    hidden: hiddenOf(server),
    ask: asksOf(server),
    names: Object.fromEntries(names),
    ...(typeof ask === "string" && { asks: ask as AskWord }),
    ...(line !== undefined && { line }),
  };
}

/** Characters that a shell would give a meaning to; a config starts programs without one. */
const SHELL = /[|;&<>`\\]/;
const WORD = /(?:[^\s"']|"[^"]*"|'[^']*')+/g;

const VARIABLE = /^([A-Za-z_]\w*)=(.*)$/s;

/** A command line with words between spaces or in quotes, after variables like `NAME=value`; or an address. */
function toConfig(text: string): Record<string, Json> {
  const line = text.trim();
  if (/^https?:\/\//i.test(line)) return { url: line };
  if (SHELL.test(line.replaceAll(/"[^"]*"|'[^']*'/g, "")) || /["']/.test(line.replaceAll(WORD, "")))
    throw wrong("quotes come in pairs, and no shell reads the line: sh -c '…' runs one");
  const words = (line.match(WORD) ?? []).map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
  const first = words.findIndex((word) => !VARIABLE.test(word));
  if (first === -1) throw wrong("a server needs a command or an address");
  const [command = "", ...args] = words.slice(first);
  const env = Object.fromEntries(words.slice(0, first).map((word) => VARIABLE.exec(word)!.slice(1)));
  return { command, args, ...(first > 0 && { env }) };
}

/** The line that `toConfig` reads back. Undefined for a server without one, or that no line can spell. */
function toLine(server: object): string | undefined {
  const { url, command, args } = fieldsOf(server);
  if (typeof url === "string") return url;
  if (typeof command !== "string") return undefined;
  const words = [command, ...listOf(args).map(String)];
  if (words.some((word) => word.includes('"') && word.includes("'"))) return undefined;
  return words.map((word) => (/^[^\s"'|;&<>`\\]+$/.test(word) ? word : quoted(word))).join(" ");
}

function quoted(word: string): string {
  return word.includes('"') ? `'${word}'` : `"${word}"`;
}

function hiddenOf(server: unknown): readonly string[] {
  return listOf(field(server, "excludeTools")).map(String);
}

function asksOf(server: unknown): Readonly<Record<string, AskWord>> {
  return fieldsOf(field(server, "askTools")) as Record<string, AskWord>;
}

function wrong(reason: string) {
  return problem("INVALID_INPUT", { operation: "the change", reason });
}
