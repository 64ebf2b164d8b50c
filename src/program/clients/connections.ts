import { mkdir, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import { unusable } from "./edit-config.ts";
import { readText } from "./find-configs.ts";
import { refused } from "./formats/format.ts";
import type { ConnectionPlan, FileChange } from "./plan-connection.ts";
import {
  editSchema,
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

  /**
   * Carries out a plan. Returns the folder of the backups.
   *
   * @throws CLIENT_CONFIG_INVALID if a file changed since it was planned.
   */
  async function make({ client, files, own, moved }: ConnectionPlan): Promise<string> {
    const all = [...files, ...(own ? [own] : [])];
    for (const { path, before } of all) {
      if ((await readText(path)) === before) continue;
      throw unusable(path, refused("it changed meanwhile; run the command again"));
    }
    const place = join(folder, `${now().toISOString().replaceAll(":", "-")}-${client.name}`);
    await mkdir(place, { recursive: true, mode: 0o700 });
    const record: Recorded = {
      format: 1,
      client: client.name,
      files: await Promise.all(files.map((file, index) => keep(file, join(place, `${index + 1}-before`)))),
      ...(own && { own: await keep(own, join(place, "keyhole-before")) }),
      uses: moved.map(({ name }) => name),
      added: Object.keys(own?.edits[0]?.set ?? {}),
    };
    await save(place, record);
    // The servers are behind Keyhole before they leave the client.
    for (const { path, after } of [...(own ? [own] : []), ...files]) await writeText(path, after);
    return place;
  }

  /**
   * Undoes the latest connection of a client. Returns the files that are as they were before, byte for byte, and those
   * that had changed since, in which only Keyhole's part was undone. Undefined if there is none.
   *
   * @throws CONNECTION_CHANGED with the backup if a file can only be mended by hand; no file is touched then.
   */
  async function undo(client: string) {
    const records = await readAll();
    const found = [...records].findLast(([, record]) => record.client === client);
    if (!found) return undefined;
    const [place, record] = found;
    records.delete(place);
    const undone = await Promise.all(record.files.map(undoFile));
    const own = record.own && (await undoOwn(record.own, await handOver(record, records)));
    for (const { path, text, isNeeded } of [...undone, ...(own ? [own] : [])]) {
      if (isNeeded) await writeText(path, text);
    }
    await rm(place, { recursive: true, force: true });
    const pathsOf = (isExact: boolean) =>
      undone.filter((file) => file.isExact === isExact).map(({ path }) => path);
    return { restored: pathsOf(true), mended: pathsOf(false) };
  }

  /** The servers that leave Keyhole's config. A server that another client uses stays until that client is undone. */
  async function handOver(
    { added }: Recorded,
    others: ReadonlyMap<string, Recorded>,
  ): Promise<readonly string[]> {
    const leaving = new Set(added);
    for (const [place, other] of others) {
      const inherited = other.uses.filter((name) => leaving.delete(name));
      if (inherited.length > 0) await save(place, { ...other, added: [...other.added, ...inherited] });
    }
    return [...leaving];
  }

  return { make, undo };
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

/** Writes a config, or removes it if there is no text. Follows links and keeps the permissions. */
async function writeText(path: string, text: string | undefined): Promise<void> {
  if (text === undefined) return rm(path, { force: true });
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const target = await realpath(path).catch(() => path);
  const mode = await stat(target).then(
    (facts) => facts.mode & 0o777,
    () => MODE,
  );
  await writeFileAtomic(target, text, mode);
}
