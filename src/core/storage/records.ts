import type { z } from "zod";
import { reasonOf } from "../../base/util/reason-of.ts";
import { checkAfter } from "../../base/util/single-flight.ts";

/** All records of one kind, as texts by key. */
export interface RecordTexts {
  /** Differs after every change. */
  readonly version: string;
  readonly texts: ReadonlyMap<string, string>;
  /** How many records are damaged. They are not among the texts. */
  readonly damaged?: number;
}

/** Texts to set by key; undefined removes one. */
type TextChanges = ReadonlyMap<string, string | undefined>;

/**
 * Keeps records of several kinds: few enough to be read all at once, and never to be lost. Drivers keep them in
 * memory, in a SQLite file or in PostgreSQL.
 */
export interface RecordStorage {
  /** The path of the file, or another name for messages. */
  readonly name: string;
  /** Whether other processes may change the records. */
  readonly isShared: boolean;
  /** Set if the storage was damaged, so that it started empty. */
  readonly damage?: string | undefined;
  /**
   * Reads all records of a kind; undefined if their version is the known one. Memory and files answer at once, a
   * database later. Throws if the records cannot be read now.
   */
  read(kind: string, known: string | undefined): RecordTexts | undefined | Promise<RecordTexts | undefined>;
  /**
   * Makes all changes or none, and loses no change of another process. With `onlyNew`, records that exist stay as
   * they are. Resolves to the number of records that changed.
   */
  change(kind: string, changes: TextChanges, onlyNew?: boolean): Promise<number>;
}

/** The records of one kind, as last read. A record that cannot be read does not count. */
export interface Records<T> {
  get(key: string): T | undefined;
  entries(): ReadonlyMap<string, T>;
  /** Sets records, and removes those that are undefined: all or none. Resolves to the number that changed. */
  change(changes: ReadonlyMap<string, T | undefined>): Promise<number>;
  /** Adds a record. Resolves to false if there is one already. */
  add(key: string, record: T): Promise<boolean>;
  /**
   * Reads changes by other processes: from memory and files at once, from a database later. True if there were any.
   * A failure to read leaves the records as they were.
   */
  refresh(): boolean | Promise<boolean>;
  /** Calls and awaits the listener after each change, also one by another process. Returns unsubscribe. */
  watch(listener: () => Promise<void>): () => void;
  /** Resolves when every change that was made before has reached the listeners. */
  catchUp(): Promise<void>;
  /** Set while records do not count: because they were damaged, or cannot be read. */
  readonly damage: string | undefined;
}

/** How often changes by other processes are looked for. */
const FOLLOW_MS = 500;

/** Opens the records of a kind. None counts before the first `refresh`. */
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
      // Also after a failure, because it may have changed something.
      await tell();
    }
  }

  async function tell(): Promise<void> {
    await Promise.all([...listeners].map((listener) => listener()));
  }

  // Two looks at once could let a caller pass while listeners still handle a change.
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
      // Polls, because not every file system reports changes. The storage tells of failures.
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

/** Keeps records for the life of the process. */
export function createMemoryRecords(): RecordStorage {
  const kinds = new Map<string, RecordTexts>();
  const textsOf = (kind: string) => kinds.get(kind) ?? { version: "0", texts: new Map() };
  return {
    name: "memory",
    isShared: false,
    read: (kind, known) => (textsOf(kind).version === known ? undefined : textsOf(kind)),
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

/** Undefined if the text is no such record. */
function parse<T>(text: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
