import { isDeepStrictEqual } from "node:util";
import { applyPatch, reversePatch, structuredPatch } from "diff";
import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import { field, fieldsOf, isPlainObject, type PlainObject } from "../../base/util/plain-object.ts";
import { editConfig, plainOf, readConfig } from "./edit-config.ts";
import { entriesOf, KEYHOLE } from "./find-configs.ts";
import type { ConfigEdit } from "./formats/format.ts";

/**
 * The text of a client's file without a connection. Undefined if the file has to go.
 *
 * @throws CONNECTION_CHANGED if the file can only be mended by hand.
 */
export async function undoFile(file: RecordedFile, current: string | undefined): Promise<string | undefined> {
  const { path, before, after } = file;
  if (current === before || current === after) return before;
  const mended =
    current === undefined ? undefined : ((await unpatch(file, current)) ?? (await unedit(file, current)));
  if (mended !== undefined) return mended;
  throw problem("CONNECTION_CHANGED", { path, backup: file.backup ?? "none, the file was new" });
}

/** The text of Keyhole's own config without these servers and the profiles of a connection, except what the person has edited since. */
export async function undoOwn(
  file: RecordedFile,
  current: string | undefined,
  names: readonly string[],
): Promise<string | undefined> {
  const { before, after, edits } = file;
  const added = edits[0]?.set ?? {};
  if (current === undefined || current === before) return current;
  if (current === after && isDeepStrictEqual([...names].sort(), Object.keys(added).sort())) return before;
  const value = await readConfig("json", current);
  const servers = field(value, "mcpServers");
  const remove = names.filter((name) =>
    isDeepStrictEqual(field(servers, name), added[name] ?? field(servers, name)),
  );
  const profiles = fieldsOf(field(value, "profiles"));
  const shrunk = profilesIn(file).map(([profile, written]) => {
    const { servers: rules, ...others } = fieldsOf(profiles[profile]);
    const gone = Object.keys(written).filter(
      (name) =>
        field(rules, name) !== undefined &&
        (remove.includes(name) || isDeepStrictEqual(field(rules, name), written[name])),
    );
    const isWhole = isPlainObject(rules) && Object.keys({ ...rules, ...others }).length === gone.length;
    return { profile, gone, isWhole };
  });
  const whole = shrunk.filter(({ isWhole }) => isWhole).map(({ profile }) => profile);
  const isLast = whole.length > 0 && Object.keys(profiles).every((profile) => whole.includes(profile));
  return editConfig(file, current, [
    { at: ["mcpServers"], remove, set: {} },
    ...shrunk
      .filter(({ isWhole }) => !isWhole)
      .map(({ profile, gone }) => ({ at: ["profiles", profile, "servers"], remove: gone, set: {} })),
    isLast ? { at: [], remove: ["profiles"], set: {} } : { at: ["profiles"], remove: whole, set: {} },
  ]);
}

/** The profiles that a connection filled in Keyhole's own config, and the servers that it put into each. */
export function profilesIn({ edits }: RecordedFile): [profile: string, servers: PlainObject][] {
  return edits.slice(1).flatMap(({ at: [, profile, within], set }): [string, PlainObject][] => {
    if (profile === undefined)
      return Object.entries(set).map(([name, value]) => [name, fieldsOf(field(value, "servers"))]);
    return [[profile, within === undefined ? fieldsOf(set.servers) : set]];
  });
}

/** Takes exactly the written lines back, if they are all still there. */
async function unpatch(file: RecordedFile, current: string): Promise<string | undefined> {
  const { path, before = "", after } = file;
  const patch = structuredPatch(path, path, before, after, undefined, undefined, { context: 2 });
  const text = applyPatch(current, reversePatch(patch), { autoConvertLineEndings: false });
  if (text === false) return undefined;
  const value = await readConfig(file.format, text).catch(() => undefined);
  return value !== undefined && isUndone(file, value) ? text : undefined;
}

function isUndone({ edits }: RecordedFile, value: unknown): boolean {
  return edits.every(({ at, remove }) => {
    const names = entriesOf(at.reduce(field, value)).map(([name]) => name);
    return !names.includes(KEYHOLE) && remove.every((name) => names.includes(name));
  });
}

/** Puts the servers back and takes Keyhole's entry out, if nobody has edited that. */
async function unedit(file: RecordedFile, current: string): Promise<string | undefined> {
  const [now, was, then] = await Promise.all(
    [current, file.after, file.before ?? ""].map((text) =>
      readConfig(file.format, text).catch(() => undefined),
    ),
  );
  if (now === undefined) return undefined;
  const back: ConfigEdit[] = [];
  for (const { at, remove, set, isList = false } of file.edits) {
    const [here, written, earlier] = [now, was, then].map(
      (value) => new Map(entriesOf(at.reduce(field, value))),
    ) as [Map<string, unknown>, Map<string, unknown>, Map<string, unknown>];
    const isEdited = (name: string) =>
      (name === KEYHOLE || here.has(name)) &&
      !isDeepStrictEqual(plainOf(here.get(name)), plainOf(written.get(name)));
    if (Object.keys(set).some(isEdited)) return undefined;
    // A server that was added again since then stays as it is now.
    const missing = remove.filter((name) => name !== KEYHOLE && !here.has(name));
    const replaced = Object.keys(set).filter((name) => earlier.has(name));
    const restored = [...missing, ...replaced].map((name) => [name, withoutName(earlier.get(name), isList)]);
    back.push({ at, isList, remove: Object.keys(set), set: Object.fromEntries(restored) });
  }
  return editConfig(file, current, back);
}

function withoutName(entry: unknown, isList: boolean): unknown {
  if (!isPlainObject(entry)) return entry;
  const { name, ...rest } = entry;
  return isList ? rest : { ...(name !== undefined && { name }), ...rest };
}

export const editSchema = z.object({
  at: z.array(z.string()),
  remove: z.array(z.string()),
  set: z.record(z.string(), z.unknown()),
  isList: z.boolean().optional(),
});

const fileSchema = z.object({
  path: z.string(),
  format: z.enum(["json", "toml", "yaml", "text"]),
  before: z.string().optional(),
  after: z.string(),
  edits: z.array(editSchema),
  /** The client's file as it was; undefined if there was none. */
  backup: z.string().optional(),
});

export const recordSchema = z.object({
  format: z.literal(1),
  client: z.string(),
  files: z.array(fileSchema),
  own: fileSchema.optional(),
  /** The names of the servers in Keyhole's config that the client uses. */
  uses: z.array(z.string()),
  /** The hash of the client's rules about tools. */
  rules: z.string().optional(),
  /** Those among them that leave Keyhole's config with the client. */
  added: z.array(z.string()),
});

/** A connection as it is kept on disk. */
export type Recorded = z.output<typeof recordSchema>;
export type RecordedFile = z.output<typeof fileSchema>;
