import type { z } from "zod";
import { reasonOf } from "../../base/util/reason-of.ts";
import { checkAfter } from "../../base/util/single-flight.ts";

/** All records of one kind, as texts by key. */
export interface RecordTexts {
  /** Differs after every change. */
  readonly version: string;
  readonly texts: ReadonlyMap<string, string>;
  /** Number of damaged records, which are not among the texts. */
  readonly damaged?: number;
}

/** Texts to set by key; undefined removes one. */
type TextChanges = ReadonlyMap<string, string | undefined>;

/** Stores records of several kinds, few enough to read all at once, in memory, a SQLite file or PostgreSQL. */
export interface RecordStorage {
  /** Path of the file, or another name for messages. */
  readonly name: string;
  /** Whether other processes may change the records. */
  readonly isShared: boolean;
  /** Set if the storage was damaged and started empty. */
  readonly damage?: string | undefined;
  /**
   * Reads all records of a kind; undefined if their version is the known one. Memory and files answer at once,
   * databases later. Throws if the records cannot be read now.
   */
  read(
    kind: string,
    knownVersion: string | undefined,
  ): RecordTexts | undefined | Promise<RecordTexts | undefined>;
  /**
   * Makes all changes or none, and keeps changes of other processes. With `onlyNew`, existing records stay unchanged.
   * Resolves to the number of changed records.
   */
  change(kind: string, changes: TextChanges, onlyNew?: boolean): Promise<number>;
}

/** The records of one kind, as last read. Unreadable records do not count. */
export interface Records<T> {
  get(key: string): T | undefined;
  entries(): ReadonlyMap<string, T>;
  /** Sets records, or removes those set to undefined: all or none. Resolves to the number of changes. */
  change(changes: ReadonlyMap<string, T | undefined>): Promise<number>;
  /** Adds a record. Resolves to false if it exists. */
  add(key: string, record: T): Promise<boolean>;
  /**
   * Reads changes by other processes: from memory and files at once, from a database later. True if there were any. If
   * reading fails, the records stay as they were.
   */
  refresh(): boolean | Promise<boolean>;
  /** Calls and awaits the listener after each change, by this process or another. Returns unsubscribe. */
  watch(listener: () => Promise<void>): () => void;
  /** Resolves when all earlier changes have reached the listeners. */
  catchUp(): Promise<void>;
  /** Set while records do not count because they are damaged or unreadable. */
  readonly damage: string | undefined;
}

/** How often to look for changes by other processes. */
const FOLLOW_MS = 500;

/** Opens the records of a kind. They are empty until the first `refresh`. */
export function openRecords<T>(storage: RecordStorage, kind: string, schema: z.ZodType<T>): Records<T> {
  let version: string | undefined;
  let records = new Map<string, T>();
  let damage: string | undefined;
  const listeners = new Set<() => Promise<void>>();
  let following: NodeJS.Timeout | undefined;

  function take(read: RecordTexts | undefined): boolean {
    if (!read) return false;
    const parsed = [...read.texts].map(([key, text]) => [key, parse(text, schema)] as const);
    records = new Map(parsed.filter((entry): entry is [string, T] => entry[1] !== undefined));
    version = read.version;
    const damaged = (read.damaged ?? 0) + parsed.length - records.size;
    damage = damaged > 0 ? `Records of ${storage.name} are damaged and do not count: ${damaged}.` : undefined;
    return true;
  }

  function fail(error: unknown): never {
    if (version === undefined) damage = `${reasonOf(error)} Until it can be read, nothing in it counts.`;
    throw error;
  }

  function refresh(): boolean | Promise<boolean> {
    try {
      const read = storage.read(kind, version);
      return read instanceof Promise ? read.then(take).catch(fail) : take(read);
    } catch (error) {
      return fail(error);
    }
  }

  async function change(changes: ReadonlyMap<string, T | undefined>, onlyNew = false): Promise<number> {
    try {
      if (changes.size === 0) return 0;
      const texts = [...changes].map(([key, record]) => [key, toText(record)] as const);
      const count = await storage.change(kind, new Map(texts), onlyNew);
      // A written change counts even if it cannot be read back now.
      if (count > 0) records = changed(records, changes);
      await Promise.resolve()
        .then(refresh)
        .catch(() => {});
      return count;
    } finally {
      // Also after a failure, which may have changed something.
      await tell();
    }
  }

  async function tell(): Promise<void> {
    await Promise.all([...listeners].map((listener) => listener()));
  }

  // Two checks at once could let a caller pass while listeners still handle a change.
  const catchUp = checkAfter(async () => {
    if (await refresh()) await tell();
  });

  return {
    get damage() {
      return storage.damage ?? damage;
    },
    get: (key) => records.get(key),
    entries: () => records,
    refresh,
    change,
    add: async (key, record) => (await change(new Map([[key, record]]), true)) > 0,
    catchUp,
    watch: (listener) => {
      listeners.add(listener);
      // Polls, because some file systems do not report changes. The storage reports failures.
      if (storage.isShared)
        following ??= setInterval(() => void catchUp().catch(() => {}), FOLLOW_MS).unref();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(following);
        following = undefined;
      };
    },
  };
}

/** Records in memory, until the process ends. */
export function createMemoryRecords(): RecordStorage {
  const kinds = new Map<string, RecordTexts>();
  const textsOf = (kind: string) => kinds.get(kind) ?? { version: "0", texts: new Map() };
  return {
    name: "memory",
    isShared: false,
    read: (kind, knownVersion) => (textsOf(kind).version === knownVersion ? undefined : textsOf(kind)),
    change: async (kind, changes, onlyNew = false) => {
      const { version, texts } = textsOf(kind);
      const isEffective = (key: string, text?: string) =>
        onlyNew ? !texts.has(key) : texts.get(key) !== text;
      const effective = new Map([...changes].filter((change) => isEffective(...change)));
      kinds.set(kind, { version: `${Number(version) + effective.size}`, texts: changed(texts, effective) });
      return effective.size;
    },
  };
}

function changed<V>(
  values: ReadonlyMap<string, V>,
  changes: ReadonlyMap<string, V | undefined>,
): Map<string, V> {
  const next = new Map(values);
  for (const [key, value] of changes) {
    if (value === undefined) next.delete(key);
    else next.set(key, value);
  }
  return next;
}

function toText(record: unknown): string | undefined {
  return record === undefined ? undefined : JSON.stringify(record);
}

/** Undefined if the text does not fit the schema. */
function parse<T>(text: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
