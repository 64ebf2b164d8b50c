import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, resolve } from "node:path";
import { problem } from "../../base/problems/problem.ts";
import { nearest } from "../../base/util/nearest.ts";
import { field, fieldsOf, isPlainObject, mapTexts, type PlainObject } from "../../base/util/plain-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { readOverride, unknownServerNames } from "../../sources/mcp/config/overrides.ts";
import { invalid, isSwitchedOff, SERVER_FIELDS } from "../../sources/mcp/config/server-config.ts";
import type { McpSourceOptions } from "../../sources/mcp/source-options.ts";
import { fromConfig, type ServerSource } from "../../sources/servers/from-config.ts";
import { ANY_SERVER_FIELDS, checkServer, fieldsOfKind } from "../../sources/servers/server-kinds.ts";
import type { Dialect } from "../clients/client.ts";
import { STANDARD } from "../clients/dialects.ts";
import { reasonWhy } from "../clients/edit-config.ts";
import { type ParsedJsonc, type Position, parseJsonc } from "../clients/formats/parse-jsonc.ts";
import { type Folders, fillFolders, toOwnFields } from "../clients/read-server.ts";
import { settingsPath } from "./config-files.ts";
import { findSlip } from "./read-settings-file.ts";

type Parsed = Extract<ParsedJsonc, { ok: true }>;

/** The paths under which configs of MCP clients list their servers. */
const PLACES: readonly (readonly string[])[] = [["mcpServers"], ["servers"], ["mcp", "servers"]];
const ROOTS = ["mcpServers", "servers"];

/** Receives a sentence about a server that is set aside, or about a field that is not known. */
export type ConfigReport = (sentence: string) => void;

/** Chooses servers of a config by its profiles, with the rules that hold for them. */
export type ChooseServers = (servers: PlainObject, profiles: unknown) => PlainObject;

export interface ReadServers {
  /** Default: all servers, as they are. */
  readonly choose?: ChooseServers;
  /** Default: stderr. */
  readonly report?: ConfigReport;
}

/**
 * Reads the JSON config of an MCP client: one source for each server. A broken server is set aside and reported;
 * the others are used.
 *
 * @throws CONFIG_INVALID with the line and column of the mistake if no server can be used.
 */
export async function readJsonConfig(
  path: string,
  options: McpSourceOptions,
  { choose = (servers) => servers, report = console.error }: ReadServers = {},
): Promise<ServerSource[]> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw problem("CONFIG_INVALID", {
      path,
      reason: reasonOf(error),
      step: "Name a file that you can read.",
    });
  });
  const folders = { home: homedir(), project: workspaceOf(path) };
  const parsed = await parseJsonc(text);
  if (!parsed.ok) throw wrongAt(path, parsed.position, parsed.reason);
  const place = PLACES.find((candidate) => isPlainObject(candidate.reduce(field, parsed.value)));
  const { overrides, profiles } = fieldsOf(parsed.value);
  // A connected client may have no servers at all.
  if (!place && isPlainObject(profiles)) return [];
  if (!place) throw await withoutServers(path, parsed);
  const servers = place.reduce(field, parsed.value) as PlainObject;
  const { usable, broken, notes } = sortServers({ servers: choose(servers, profiles), overrides }, folders);
  const problems = await Promise.all(
    broken.map(({ name, config, error }) => wrongServer(path, parsed, [...place, name], config, error)),
  );
  if (problems.length > 0 && Object.keys(usable).length === 0) throw problems[0];
  for (const { message } of problems) report(`${message} Its other servers are used.`);
  for (const { name, key, note } of notes) {
    const { line, column } = await parsed.positionOf([...place, name, key]);
    report(`${path}:${line}:${column}: ${note}`);
  }
  for (const stranger of unknownServerNames(parsed.value, Object.keys(servers))) {
    const [near] = nearest(stranger, Object.keys(servers), 1);
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    report(`${path}: overrides or profiles name the server ${stranger}, which is not there${hint}`);
  }
  return fromConfig({ servers: usable, overrides, profiles }, options);
}

/** The folder that `.vscode` and its like belong to, and in which the config's servers start. */
export function workspaceOf(path: string): string {
  const folder = dirname(resolve(path));
  if (folder === dirname(settingsPath(homedir()))) return homedir();
  return [".vscode", ".cursor"].includes(basename(folder)) ? dirname(folder) : folder;
}

async function withoutServers(path: string, { value, positionOf }: Parsed) {
  const keys = isPlainObject(value) ? Object.keys(value) : [];
  const given = keys.find((key) => ROOTS.includes(key)) ?? findSlip(keys, ROOTS)?.given;
  const position = await positionOf(given === undefined ? [] : [given]);
  const form = `Write the servers as "mcpServers": { "NAME": { "command": "PROGRAM", "args": [] } }.`;
  if (given !== undefined && ROOTS.includes(given))
    return wrongAt(path, position, `${given} must be an object`, form);
  if (given === undefined) return wrongAt(path, position, "it has neither mcpServers nor servers", form);
  const meant = findSlip([given], ROOTS)?.meant;
  return wrongAt(path, position, `${JSON.stringify(given)} is not known`, `Write ${meant} instead.`);
}

/** Points at a misspelt field rather than at the missing one, because it is the likelier cause. */
async function wrongServer(
  path: string,
  parsed: Parsed,
  place: readonly string[],
  config: unknown,
  error: unknown,
) {
  const reason = reasonWhy(error);
  const keys = isPlainObject(config) ? Object.keys(config) : [];
  const slip = findSlip(keys, ANY_SERVER_FIELDS);
  const hint = slip ? `; the field nearest to ${JSON.stringify(slip.given)} is ${slip.meant}` : "";
  const position = await parsed.positionOf(slip ? [...place, slip.given] : place);
  return wrongAt(path, position, `the server ${JSON.stringify(place.at(-1))}: ${reason}${hint}`);
}

function wrongAt(
  path: string,
  { line, column }: Position,
  reason: string,
  step = `Correct the file in line ${line}, column ${column}.`,
) {
  return problem("CONFIG_INVALID", { path: `${path}:${line}:${column}`, reason, step }, { line, column });
}

interface SortedServers {
  /** The servers that can be used, in Keyhole's fields, with the folders that their texts name filled in. */
  readonly usable: PlainObject;
  readonly broken: readonly { readonly name: string; readonly config: unknown; readonly error: unknown }[];
  /** Fields of usable servers that are unknown or not honoured. One sentence each. */
  readonly notes: readonly { readonly name: string; readonly key: string; readonly note: string }[];
}

/** The fields of a server in a config that people paste: those of other clients, and Keyhole's own as they are. */
const PASTED: Dialect["fields"] = {
  ...asTheyAre(SERVER_FIELDS),
  ...STANDARD.fields,
  type: { as: "type" },
  // VS Code has a field of this name with other parts.
  sandbox: { to: (sandbox) => (isPlainObject(field(sandbox, "filesystem")) ? {} : { sandbox }) },
};

function asTheyAre(names: readonly string[]): Dialect["fields"] {
  return Object.fromEntries(names.map((name) => [name, { as: name }]));
}

/** Separates usable servers from broken ones. Servers that are switched off are left out. */
export function sortServers(
  { servers, overrides }: { readonly servers: PlainObject; readonly overrides?: unknown },
  folders: Folders,
): SortedServers {
  const usable = new Map<string, unknown>();
  const broken: SortedServers["broken"][number][] = [];
  const notes: SortedServers["notes"][number][] = [];
  for (const [name, config] of Object.entries(servers)) {
    if (isSwitchedOff(config)) continue;
    try {
      const told: SortedServers["notes"][number][] = [];
      if (!isPlainObject(config)) throw invalid(name, "it is not an object");
      const fields = fieldsOfKind(config);
      const { own, missing } = toOwnFields(config, fields ? asTheyAre(fields) : PASTED, (note, key) =>
        told.push({ name, key, note }),
      );
      if (missing !== undefined) throw invalid(name, `Keyhole has no ${missing}`);
      const filled = mapTexts(own, (text) => fillFolders(name, text, folders));
      checkServer(name, filled);
      readOverride(overrides, name);
      usable.set(name, filled);
      notes.push(...told);
    } catch (error) {
      broken.push({ name, config, error });
    }
  }
  return { usable: Object.fromEntries(usable), broken, notes };
}
