/** Bounds on the values of one owner, or of all owners together. */
export interface Bounds {
  readonly entries: number;
  /** Bytes, or the unit that the caller counts in. */
  readonly size: number;
}

/**
 * Values by key, each of one owner. Owners share neither keys nor room: an owner over its bound loses its least
 * recently used values, and if all together are over theirs, those with more than an equal share lose. Drivers keep
 * values in memory, in SQLite or in PostgreSQL.
 */
export interface Storage<V> {
  /** Reads a value. Reading counts as use, except of lasting values. */
  get(key: string, owner: string): Promise<V | undefined>;
  /** Whether a value is there. Asking does not count as use. */
  has(key: string, owner: string): Promise<boolean>;
  /**
   * Keeps a value, or the first values of a list. True if it is new: a key that is there already keeps its value and
   * counts as used.
   */
  put(key: string, owner: string, ...values: readonly V[]): Promise<boolean>;
  /**
   * Changes the current value, so that no other change is lost; undefined removes it, or the whole list. The change may be applied more
   * than once. Resolves to the value that is there afterwards: a lasting value that has no room to grow stays as it is.
   */
  update(key: string, owner: string, change: (value: V) => V | undefined): Promise<V | undefined>;
  /** Adds a value at the end of a list of `position` values. False if the list is unknown or has another length. */
  append(key: string, owner: string, position: number, value: V): Promise<boolean>;
  /**
   * Reads a list in order, from a position on; empty if it is unknown. Reading does not count as use. A value that cannot
   * be read fails the whole list.
   */
  list(key: string, owner: string, from?: number): Promise<readonly V[]>;
}

/** Bounds of values that their writer removes itself. */
export const UNBOUNDED: Bounds = { entries: Number.MAX_SAFE_INTEGER, size: Number.MAX_SAFE_INTEGER };
/** Time of values that are kept until they are removed. */
export const FOREVER_MS = 1e15;

/** Bounds and format of the values of one kind. A driver may ignore `cached`. */
export interface StorageOptions<V> {
  readonly all: Bounds;
  readonly perOwner: Bounds;
  /** Milliseconds without use after which a value is forgotten. */
  readonly ttlMs: number;
  /**
   * Values must not be lost: each is kept for its whole time, counted from its last change, and `put` refuses a value
   * that does not fit. One owner then takes at most a quarter of the free room, so that a few cannot take all of it.
   */
  readonly lasting?: boolean;
  /** Size of a value beside its content. Default: 0. */
  readonly overhead?: number;
  /** Writes a value as JSON text, for drivers that write. Default: as it is. */
  readonly toText?: (value: V) => string;
  /** Reads a value. A text for which it throws counts as absent. */
  readonly fromText?: (text: string) => V;
  /** How many values stay in memory beside a database, to save reading those that are unchanged. Default: none. */
  readonly cached?: number;
}

/** A driver: opens the storage of one kind of value. */
export type OpenStorage = <V>(kind: string, options: StorageOptions<V>) => Storage<V>;
