import type { Bounds } from "../../base/util/storage.ts";

export interface FairCacheOptions<V> {
  readonly all: Bounds;
  readonly perOwner: Bounds;
  /** Milliseconds after which an entry is forgotten. */
  readonly ttlMs: number;
  /** Default: a monotonic clock. */
  readonly now?: () => number;
  /** Called for each entry that is removed. */
  readonly onRemoved?: (key: string, value: V) => void;
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

/**
 * Stores entries by key and owner, with limits for each owner and for all. The only place that decides which values an
 * owner loses; all drivers of `Storage` use it. An owner over its limit loses its oldest entry. If the total is over
 * the limit, the owner that holds most loses one: owners with no more than an equal share never lose entries to others.
 */
export function createFairCache<V>(options: FairCacheOptions<V>) {
  const { all, perOwner, ttlMs, now = () => performance.now(), onRemoved } = options;
  // In the order of the last change, so that the first entry expires first.
  const byKey = new Map<string, CacheEntry<V>>();
  const holdings = new Map<string, Holding>();
  let total = 0;

  function remove(key: string): CacheEntry<V> | undefined {
    const entry = byKey.get(key);
    if (!entry) return undefined;
    byKey.delete(key);
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
    byKey.set(key, { ...entry, expires: now() + ttlMs });
    return holding;
  }

  function dropExpired(): void {
    const time = now();
    for (const [key, { expires }] of byKey) {
      if (expires > time) return;
      drop(key);
    }
  }

  function find(key: string, owner: string): CacheEntry<V> | undefined {
    const entry = byKey.get(key);
    if (entry?.owner !== owner) return undefined;
    if (entry.expires > now()) return entry;
    drop(key);
    return undefined;
  }

  /** The owner that holds most. Among equals, the one that has added nothing for longest. */
  function largest(amount: (holding: Holding) => number): Holding {
    return holdings.values().reduce((most, holding) => (amount(holding) > amount(most) ? holding : most));
  }

  return {
    get entries() {
      return byKey.size;
    },
    get size() {
      return total;
    },
    /** Finds an entry of this owner. */
    get: (key: string, owner: string): V | undefined => find(key, owner)?.value,
    /** Finds an entry of this owner and renews it. */
    renew: (key: string, owner: string): V | undefined => {
      const entry = find(key, owner);
      if (!entry) return undefined;
      remove(key);
      add(key, entry);
      return entry.value;
    },
    /** Adds or replaces an entry. An owner over its limit loses its oldest entries. */
    set: (key: string, owner: string, value: V, size = 1) => {
      dropExpired();
      drop(key);
      if (size > all.size) return onRemoved?.(key, value);
      const mine = add(key, { owner, value, size });
      while (mine.keys.size > 1 && (mine.keys.size > perOwner.entries || mine.size > perOwner.size)) {
        drop(first(mine));
      }
      while (byKey.size > all.entries) drop(first(largest(({ keys }) => keys.size)));
      while (total > all.size) drop(first(largest((holding) => holding.size)));
    },
    /** Whether one more entry fits without removing any, for entries that must not be lost. */
    hasRoom: (owner: string, size = 1): boolean => {
      dropExpired();
      const mine = holdings.get(owner);
      const room = roomOfOwner(options, { entries: byKey.size, size: total });
      return (mine?.keys.size ?? 0) < room.entries && (mine?.size ?? 0) + size <= room.size;
    },
    delete: drop,
    clear: () => {
      for (const key of byKey.keys()) drop(key);
    },
  };
}

function first({ keys }: Holding): string {
  return keys.values().next().value!;
}

const FREE_PART = 4;

/**
 * How much one owner may hold of values that must not be lost, while all owners hold `total`: a quarter of the free
 * room, so that a few owners cannot take all of it.
 */
export function roomOfOwner(
  { all, perOwner }: Pick<FairCacheOptions<unknown>, "all" | "perOwner">,
  total: Bounds,
): Bounds {
  const part = (bound: "entries" | "size") =>
    Math.floor(Math.min(perOwner[bound], (all[bound] - total[bound]) / FREE_PART));
  return { entries: part("entries"), size: part("size") };
}
