import { readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "../../base/util/make-folder.ts";
import { field, fieldsOf } from "../../base/util/plain-object.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import { readConfig, unusable } from "./edit-config.ts";
import { readText } from "./find-configs.ts";
import { type FormatName, refused } from "./formats/format.ts";
import type { ConnectionPlan, FileChange } from "./plan-connection.ts";
import {
  editSchema,
  profilesIn,
  type Recorded,
  type RecordedFile,
  recordSchema,
  undoFile,
  undoOwn,
} from "./undo-file.ts";

/** Readable by the owner only, because configs contain keys. */
const MODE = 0o600;
const RECORD = "record.json";

/** The connections of clients to Keyhole in a folder. Each is kept with backups until it is undone. */
export function createConnections(folder: string, now: () => Date = () => new Date()) {
  async function readAll(): Promise<Map<string, Recorded>> {
    const names = await readdir(folder).catch(() => []);
    const records = new Map<string, Recorded>();
    for (const name of names.sort()) {
      const text = await readFile(join(folder, name, RECORD), "utf8").catch(() => "null");
      const parsed = recordSchema.safeParse(JSON.parse(text));
      if (parsed.success) records.set(join(folder, name), parsed.data);
    }
    return records;
  }

  /** The profiles in Keyhole's config that connections of the client have made. */
  async function profilesOf(client: string): Promise<string[]> {
    const records = [...(await readAll()).values()].filter((record) => record.client === client);
    return [...new Set(records.flatMap(({ own }) => (own ? profilesIn(own).map(([name]) => name) : [])))];
  }

  /**
   * Carries out a plan. Returns the folder of the backups.
   *
   * @throws CLIENT_CONFIG_INVALID if a file changed since it was planned.
   */
  async function make({ client, files, own, uses, rulesHash }: ConnectionPlan): Promise<string> {
    const all = [...files, ...(own ? [own] : [])];
    for (const { path, before } of all) {
      if ((await readText(path)) === before) continue;
      throw unusable(path, refused("it changed meanwhile; run the command again"));
    }
    const place = join(folder, `${now().toISOString().replaceAll(":", "-")}-${client.name}`);
    makeFolder(place);
    const record: Recorded = {
      format: 1,
      client: client.name,
      files: await Promise.all(files.map((file, index) => keep(file, join(place, `${index + 1}-before`)))),
      ...(own && { own: await keep(own, join(place, "keyhole-before")) }),
      uses: [...uses],
      rules: rulesHash,
      added: Object.keys(own?.edits[0]?.set ?? {}),
    };
    await save(place, record);
    // The servers are behind Keyhole before they leave the client.
    if (own) await writeText(own.path, own.after, MODE);
    for (const { path, after } of files) await writeText(path, after);
    return place;
  }

  /**
   * Plans to undo all connections of a client, the latest first. Writes nothing. Undefined if there are none.
   *
   * @throws CONNECTION_CHANGED with the backup if a file can only be mended by hand.
   */
  async function planUndo(client: string): Promise<UndoPlan | undefined> {
    return planUndoIn(await readAll(), client);
  }

  /** Undoes all connections of a client. Undefined if there are none. No file is touched if one cannot be mended. */
  async function undo(client: string): Promise<UndoPlan | undefined> {
    const plan = await planUndo(client);
    if (!plan) return undefined;
    for (const [place, record] of plan.heirs) await save(place, record);
    for (const { path, before, after } of [...plan.files, ...(plan.own ? [plan.own] : [])]) {
      if (before !== after) await writeText(path, after);
    }
    for (const place of plan.places) await rm(place, { recursive: true, force: true });
    return plan;
  }

  /** The names of the clients that are connected. */
  async function clients(): Promise<string[]> {
    return [...new Set([...(await readAll()).values()].map(({ client }) => client))];
  }

  /** The hash of a client's rules about tools when it was connected last. Undefined if it is not, or was before rules were read. */
  async function rulesOf(client: string): Promise<string | undefined> {
    const records = [...(await readAll()).values()].filter((record) => record.client === client);
    return records.at(-1)?.rules;
  }

  return { profilesOf, make, planUndo, undo, clients, rulesOf };
}

async function planUndoIn(records: Map<string, Recorded>, client: string): Promise<UndoPlan | undefined> {
  const undone = [...records].filter(([, record]) => record.client === client).reverse();
  if (undone.length === 0) return undefined;
  for (const [place] of undone) records.delete(place);
  /** The texts of the files without the connections that are undone so far. */
  const texts = new Map<string, string | undefined>();
  const textOf = async (path: string) => (texts.has(path) ? texts.get(path) : readText(path));
  const originals = new Map<string, RecordedFile>();
  let ownPath: string | undefined;
  for (const [, record] of undone) {
    for (const file of record.files) {
      texts.set(file.path, await undoFile(file, await textOf(file.path)));
      originals.set(file.path, file);
    }
    const leaving = handOver(record.added, records);
    if (!record.own) continue;
    ownPath = record.own.path;
    texts.set(ownPath, await undoOwn(record.own, await textOf(ownPath), leaving));
  }
  const own = ownPath === undefined ? undefined : texts.get(ownPath);
  const profiles = fieldsOf(field(await readConfig("json", own ?? ""), "profiles"));
  const filled = undone.flatMap(([, record]) => (record.own ? profilesIn(record.own) : []));
  const changeOf = async (path: string, format: FormatName) => {
    return { path, format, before: await readText(path), after: texts.get(path) };
  };
  return {
    files: await Promise.all(
      [...originals].map(async ([path, { format, before }]) => ({
        ...(await changeOf(path, format)),
        isExact: texts.get(path) === before,
      })),
    ),
    own: ownPath === undefined ? undefined : await changeOf(ownPath, "json"),
    keptProfiles: [...new Set(filled.map(([name]) => name))].filter((name) => Object.hasOwn(profiles, name)),
    places: undone.map(([place]) => place),
    heirs: records,
  };
}

/** A file before and after connections are undone. Without a text, there is no file. */
export interface UndoneFile extends Pick<FileChange, "path" | "format" | "before"> {
  readonly after: string | undefined;
}

export interface UndoPlan {
  /** The client's files. An exact one becomes what it was before the first connection, byte for byte. */
  readonly files: readonly (UndoneFile & { readonly isExact: boolean })[];
  /** Keyhole's own config, if a connection added servers to it. */
  readonly own: UndoneFile | undefined;
  /** The client's profiles in Keyhole's own config that stay, because the person has changed them. */
  readonly keptProfiles: readonly string[];
  /** The folders of the connections. */
  readonly places: readonly string[];
  /** The connections of other clients, with the servers that they take over. */
  readonly heirs: ReadonlyMap<string, Recorded>;
}

/** The servers that leave Keyhole's config with a connection. Another client that uses one takes it over. */
function handOver(added: readonly string[], others: Map<string, Recorded>): readonly string[] {
  const leaving = new Set(added);
  for (const [place, other] of others) {
    const inherited = other.uses.filter((name) => leaving.delete(name));
    if (inherited.length > 0) others.set(place, { ...other, added: [...other.added, ...inherited] });
  }
  return [...leaving];
}

async function keep(
  { path, format, before, after, edits }: FileChange,
  backup: string,
): Promise<RecordedFile> {
  const kept = { path, format, after, edits: edits.map((edit) => editSchema.parse(edit)) };
  if (before === undefined) return kept;
  await writeFile(backup, before, { mode: MODE });
  return { ...kept, before, backup };
}

function save(place: string, record: Recorded): Promise<void> {
  return writeFile(join(place, RECORD), JSON.stringify(record), { mode: MODE });
}

/** Writes a config, or removes it if there is no text. Follows links and keeps the permissions, at most `most` of them. */
async function writeText(path: string, text: string | undefined, most = 0o777): Promise<void> {
  if (text === undefined) return rm(path, { force: true });
  makeFolder(dirname(path));
  const target = await realpath(path).catch(() => path);
  const mode = await stat(target).then(
    (facts) => facts.mode & most,
    () => MODE,
  );
  await writeFileAtomic(target, text, mode);
}
