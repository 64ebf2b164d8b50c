import { readFileSync, renameSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { contentHash } from "../../base/util/content-hash.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";

/** Decisions of a person by key, as last read. A record that cannot be read does not count. */
export interface RecordStore<T> {
  get(key: string): T | undefined;
  keys(): readonly string[];
  /** Sets records, or removes those that are undefined. Resolves once they are kept; a failure changes nothing. */
  change(changes: ReadonlyMap<string, T | undefined>): Promise<void>;
  /** Reads changes by other processes: a file at once, a database later. True if records have changed. */
  refresh(): boolean | Promise<boolean>;
  /** Set if the records were damaged or of an earlier format, so that none of them counts. */
  readonly damage: string | undefined;
}

export interface RecordStoreOptions<T> {
  /** Without a path, the records end with the process. */
  readonly path?: string | undefined;
  readonly format: number;
  readonly record: z.ZodType<T>;
  /** The word for a record that counts, such as `approved`. */
  readonly counted: string;
  /** Why records of an earlier format do not count. */
  readonly outdated?: string;
}

/** Readable by the owner only. */
const MODE = 0o600;

interface ReadRecords<T> {
  readonly records: Map<string, T>;
  readonly damage: string | undefined;
}

/** Keeps records in a file with a checksum, or in memory without a path. */
export function createRecordStore<T>(options: RecordStoreOptions<T>): RecordStore<T> {
  const { path } = options;
  let stamp = stampOf(path);
  let { records, damage } = read(options);
  let changing: Promise<void> = Promise.resolve();

  async function apply(changes: ReadonlyMap<string, T | undefined>): Promise<void> {
    // Start from the file, so that records which another process removed do not come back.
    const next = path === undefined ? new Map(records) : read(options).records;
    for (const [key, record] of changes) {
      if (record === undefined) next.delete(key);
      else next.set(key, record);
    }
    if (path !== undefined) await write(path, options.format, next);
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

async function write<T>(path: string, format: number, records: ReadonlyMap<string, T>): Promise<void> {
  const content = sorted(records);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ format, checksum: contentHash(content), records: content }, null, 1);
  await writeFileAtomic(path, text, MODE);
}

function read<T>({ path, format, record, counted, outdated }: RecordStoreOptions<T>): ReadRecords<T> {
  const records = new Map<string, T>();
  if (path === undefined) return { records, damage: undefined };
  let why = "cannot be read";
  try {
    const given: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (outdated !== undefined && isOlder(given, format)) why = outdated;
    const file = z
      .object({
        format: z.literal(format),
        checksum: z.string(),
        records: z.array(z.tuple([z.string(), record])),
      })
      .parse(given);
    if (contentHash(file.records) === file.checksum)
      return { records: new Map(file.records), damage: undefined };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { records, damage: undefined };
  }
  return { records, damage: setAside(path, why, counted) };
}

function isOlder(file: unknown, format: number): boolean {
  const given = z.object({ format: z.number() }).safeParse(file);
  return given.success && given.data.format < format;
}

/** Renames an unusable file, for inspection. The next read finds no file, so the damage is reported once. */
function setAside(path: string, why: string, counted: string): string {
  const aside = `${path}.damaged`;
  try {
    renameSync(path, aside);
    return `${path} ${why}; it is kept as ${aside}, and nothing in it counts as ${counted}`;
  } catch {
    return `${path} ${why}, and nothing in it counts as ${counted}`;
  }
}
