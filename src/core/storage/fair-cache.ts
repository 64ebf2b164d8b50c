import type { Bounds } from "./storage.ts";

export interface FairCacheOptions<V> {
  readonly all: Bounds;
  readonly perOwner: Bounds;
  /** Milliseconds after which an entry is forgotten. */
  readonly ttlMs: number;
  /** Default: a clock that nobody sets. */
  readonly now?: () => number;
  /** Called for each entry that leaves the cache. */
  readonly onRemoved?: (key: string, value: V) => void;
}

/** Keeps entries by key, each for its owner. Owners can neither read nor evict each other's entries. */
export interface FairCache<V> {
  readonly entries: number;
  readonly size: number;
  /** Finds an entry of this owner. */
  get(key: string, owner: string): V | undefined;
  /** Finds an entry of this owner and restarts its time. */
  renew(key: string, owner: string): V | undefined;
  /** Adds an entry or replaces it. An owner over its bound loses its oldest entries. */
  set(key: string, owner: string, value: V, size?: number): void;
  /**
   * Whether one more entry fits without removing any, for entries that must not be lost. One owner takes at most a
   * quarter of what is then free, so that a few owners cannot take all the room.
   */
  hasRoom(owner: string, size?: number): boolean;
  delete(key: string): void;
  clear(): void;
}

interface CacheEntry<V> {
  readonly owner: string;
  readonly value: V;
  readonly size: number;
  readonly expires: number;
}

/** The keys of one owner, oldest first. */
interface Holding {
  readonly keys: Set<string>;
  size: number;
}

const LEFT_FREE = 4;

/**
 * Creates a cache with bounds for each owner and for all. If all together are over their bound, the owner that
 * holds most loses its oldest entry: an owner with no more than an equal share loses nothing to others.
 */
export function createFairCache<V>(options: FairCacheOptions<V>): FairCache<V> {
  const { all, perOwner, ttlMs, now = () => performance.now(), onRemoved } = options;
  // Both are in the order of the last change, so that the first entry expires first.
  const kept = new Map<string, CacheEntry<V>>();
  const holdings = new Map<string, Holding>();
  let total = 0;

  function remove(key: string): CacheEntry<V> | undefined {
    const entry = kept.get(key);
    if (!entry) return undefined;
    kept.delete(key);
    total -= entry.size;
    const holding = holdings.get(entry.owner)!;
    holding.keys.delete(key);
    holding.size -= entry.size;
    if (holding.keys.size === 0) holdings.delete(entry.owner);
    return entry;
  }

  function drop(key: string): void {
    const entry = remove(key);
    if (entry) onRemoved?.(key, entry.value);
  }

  function add(key: string, entry: Omit<CacheEntry<V>, "expires">): Holding {
    const holding = holdings.get(entry.owner) ?? { keys: new Set(), size: 0 };
    holdings.delete(entry.owner);
    holdings.set(entry.owner, holding);
    holding.keys.add(key);
    holding.size += entry.size;
    total += entry.size;
    kept.set(key, { ...entry, expires: now() + ttlMs });
    return holding;
  }

  function dropExpired(): void {
    const time = now();
    for (const [key, { expires }] of kept) {
      if (expires > time) return;
      drop(key);
    }
  }

  function find(key: string, owner: string): CacheEntry<V> | undefined {
    const entry = kept.get(key);
    if (entry?.owner !== owner) return undefined;
    if (entry.expires > now()) return entry;
    drop(key);
    return undefined;
  }

  /** The owner that holds most; of several, the one that added nothing for longest. */
  function largest(amount: (holding: Holding) => number): Holding {
    let found: Holding | undefined;
    for (const holding of holdings.values()) {
      if (!found || amount(holding) > amount(found)) found = holding;
    }
    return found!;
  }

  return {
    get entries() {
      return kept.size;
    },
    get size() {
      return total;
    },
    get: (key, owner) => find(key, owner)?.value,
    renew: (key, owner) => {
      const entry = find(key, owner);
      if (!entry) return undefined;
      remove(key);
      add(key, entry);
      return entry.value;
    },
    set: (key, owner, value, size = 1) => {
      dropExpired();
      drop(key);
      if (size > all.size) return onRemoved?.(key, value);
      const mine = add(key, { owner, value, size });
      while (mine.keys.size > 1 && (mine.keys.size > perOwner.entries || mine.size > perOwner.size)) {
        drop(first(mine));
      }
      while (kept.size > all.entries) drop(first(largest(({ keys }) => keys.size)));
      while (total > all.size) drop(first(largest((holding) => holding.size)));
    },
    hasRoom: (owner, size = 1) => {
      dropExpired();
      const mine = holdings.get(owner);
      const entries = (mine?.keys.size ?? 0) + 1;
      const sum = (mine?.size ?? 0) + size;
      return (
        entries <= Math.min(perOwner.entries, (all.entries - kept.size) / LEFT_FREE) &&
        sum <= Math.min(perOwner.size, (all.size - total) / LEFT_FREE)
      );
    },
    delete: drop,
    clear: () => {
      for (const key of [...kept.keys()]) drop(key);
    },
  };
}

function first({ keys }: Holding): string {
  return keys.values().next().value!;
}
