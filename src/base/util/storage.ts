/** Limits on the values of one owner, or of all owners together. */
export interface Bounds {
  readonly entries: number;
  /** Bytes, or another unit of the caller. */
  readonly size: number;
}

/**
 * Values by key and owner. Owners share neither keys nor limits: an owner over its limit loses its least recently used
 * values; if the total is over the limit, owners with more than an equal share lose values. Drivers use memory, SQLite
 * or PostgreSQL.
 */
export interface Storage<V> {
  /** Reads a value. Counts as use, except for lasting values. */
  get(key: string, owner: string): Promise<V | undefined>;
  /** Whether a value exists. Does not count as use. */
  has(key: string, owner: string): Promise<boolean>;
  /** Stores a value, or the first values of a list. True if it is new; an existing value stays and counts as used. */
  put(key: string, owner: string, ...values: readonly V[]): Promise<boolean>;
  /**
   * Changes the current value without losing other changes; undefined removes it, or the whole list. The change may be
   * applied more than once. Resolves to the value afterwards: a lasting value without room to grow stays as it is.
   */
  update(key: string, owner: string, change: (value: V) => V | undefined): Promise<V | undefined>;
  /** Appends a value to a list of `position` values. False if the list is unknown or has another length. */
  append(key: string, owner: string, position: number, value: V): Promise<boolean>;
  /** Reads a list from a position on; empty if unknown, no use. An unreadable value fails the whole list. */
  list(key: string, owner: string, from?: number): Promise<readonly V[]>;
}

/** Limits for values that their writer removes itself. */
export const UNBOUNDED: Bounds = { entries: Number.MAX_SAFE_INTEGER, size: Number.MAX_SAFE_INTEGER };
/** Lifetime of values that stay until they are removed. */
export const FOREVER_MS = 1e15;

/** Limits and format of values of one kind. A driver may ignore `cached`. */
export interface StorageOptions<V> {
  readonly all: Bounds;
  readonly perOwner: Bounds;
  /** Milliseconds without use after which a value is deleted. */
  readonly ttlMs: number;
  /**
   * Values must not be lost: each is stored for its whole time since the last change, and `put` refuses values without
   * room. One owner then takes at most a quarter of the free room, so that a few cannot take all of it.
   */
  readonly lasting?: boolean;
  /** Size of a value besides its content. Default: 0. */
  readonly overhead?: number;
  /** Writes a value as text, for drivers that write. Default: JSON. */
  readonly toText?: (value: V) => string;
  /** Parses a value. If it throws, the value counts as absent. */
  readonly fromText?: (text: string) => V;
  /** Number of values cached in memory in front of a database. Default: none. */
  readonly cached?: number;
}

/** A driver: opens the storage of one kind of value. */
export type OpenStorage = <V>(kind: string, options: StorageOptions<V>) => Storage<V>;
