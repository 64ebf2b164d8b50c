import { readFileSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { contentHash } from "../../base/util/content-hash.ts";
import { makeFolder } from "../../base/util/make-folder.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";

/** Decisions of a person by key, as last read. A record that cannot be read does not count. */
export interface RecordStore<T> {
  get(key: string): T | undefined;
  keys(): readonly string[];
  /** Sets records, or removes those that are undefined. Resolves once they are kept; a failure changes nothing. */
  change(changes: ReadonlyMap<string, T | undefined>): Promise<void>;
  /** Reads changes by other processes: a file at once, a database later. True if records have changed. */
  refresh(): boolean | Promise<boolean>;
  /** Set if the records were damaged, so that none of them counts. */
  readonly damage: string | undefined;
}

export interface RecordStoreOptions<T> {
  /** Without a path, the records end with the process. */
  readonly path?: string | undefined;
  readonly record: z.ZodType<T>;
  /** The word for a record that counts, such as `approved`. */
  readonly counted: string;
}

const FORMAT = 1;
/** Readable by the owner only. */
const MODE = 0o600;

/** Keeps records in a file with a checksum, or in memory without a path. */
export function createRecordStore<T>(options: RecordStoreOptions<T>): RecordStore<T> {
  const { path } = options;
  let stamp = stampOf(path);
  let { records, damage }: { records: Map<string, T>; damage: string | undefined } = read(options);
  let changing: Promise<void> = Promise.resolve();

  async function apply(changes: ReadonlyMap<string, T | undefined>): Promise<void> {
    // Start from the file, so that records which another process removed do not come back.
    const next = path === undefined ? new Map(records) : read(options).records;
    for (const [key, record] of changes) {
      if (record === undefined) next.delete(key);
      else next.set(key, record);
    }
    if (path !== undefined) await write(path, next);
    records = next;
  }

  return {
    get damage() {
      return damage;
    },
    refresh: () => {
      const found = stampOf(path);
      if (found === stamp) return false;
      stamp = found;
      const before = checksumOf(records);
      const now = read(options);
      records = now.records;
      // A damaged file was renamed, so the next read finds no damage: keep the first report.
      damage = now.damage ?? damage;
      return checksumOf(records) !== before;
    },
    get: (key) => records.get(key),
    keys: () => [...records.keys()],
    change: (changes) => {
      const applied = changing.then(() => apply(changes));
      changing = applied.catch(() => {});
      return applied;
    },
  };
}

/** Differs after every write. Taken before the file is read, so that no write in between is missed. */
function stampOf(path: string | undefined): string | undefined {
  const about = path === undefined ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  return about && [about.ino, about.mtimeNs, about.size].join(" ");
}

function checksumOf<T>(records: ReadonlyMap<string, T>): string {
  return contentHash(sorted(records));
}

function sorted<T>(records: ReadonlyMap<string, T>): [string, T][] {
  return [...records].sort(([left], [right]) => (left < right ? -1 : 1));
}

async function write<T>(path: string, records: ReadonlyMap<string, T>): Promise<void> {
  const content = sorted(records);
  makeFolder(dirname(path));
  const text = JSON.stringify({ format: FORMAT, checksum: contentHash(content), records: content }, null, 1);
  await writeFileAtomic(path, text, MODE);
}

function read<T>({ path, record, counted }: RecordStoreOptions<T>) {
  const none = { records: new Map<string, T>(), damage: undefined };
  if (path === undefined) return none;
  try {
    const content = z.array(z.tuple([z.string(), record]));
    const file = z
      .object({ format: z.literal(FORMAT), checksum: z.string(), records: content })
      .parse(JSON.parse(readFileSync(path, "utf8")));
    if (contentHash(file.records) === file.checksum) return { ...none, records: new Map(file.records) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return none;
  }
  return { ...none, damage: setAside(path, counted) };
}

/** Keeps a file that does not count for inspection. It is gone from its place, so this is told once. */
function setAside(path: string, counted: string): string {
  const aside = `${path}.damaged`;
  try {
    renameSync(path, aside);
    return `${path} cannot be read; it is kept as ${aside}, and nothing in it counts as ${counted}`;
  } catch {
    return `${path} cannot be read, and nothing in it counts as ${counted}`;
  }
}
