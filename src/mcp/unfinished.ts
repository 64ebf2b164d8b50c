export interface UnfinishedOptions<T> {
  /** How many may stay for longer than the grace. */
  readonly most: number;
  /** How many may be there at any moment. */
  readonly limit: number;
  /** Ends one. */
  readonly end: (item: T) => void;
  readonly graceMs?: number;
  readonly now?: () => number;
}

/** Connections or requests that are not complete yet. When there are too many, the oldest gives way to the newest. */
export interface Unfinished<T> {
  add(item: T): void;
  delete(item: T): void;
  readonly size: number;
}

const GRACE_MS = 1_000;

export function createUnfinished<T>(options: UnfinishedOptions<T>): Unfinished<T> {
  const { most, limit, end, graceMs = GRACE_MS, now = () => performance.now() } = options;
  const since = new Map<T, number>();

  function isTooMuch(began: number): boolean {
    return since.size > limit || (since.size > most && now() - began > graceMs);
  }

  return {
    get size() {
      return since.size;
    },
    add: (item) => {
      since.set(item, now());
      // Oldest first.
      for (const [one, began] of since) {
        if (!isTooMuch(began)) return;
        since.delete(one);
        end(one);
      }
    },
    delete: (item) => void since.delete(item),
  };
}
