import { LRUCache } from "lru-cache";
import { lazy } from "../../util/lazy.ts";

const MAX_COUNTED = 32;

/** Counts what goes with what, within bounds: the keys longest unused and the rarest partners are forgotten. */
export interface Tally {
  add(key: string, partner: string): void;
  /** Partners of a key with their counts. */
  of(key: string): ReadonlyMap<string, number>;
}

export function createTally(maxKeys: number): Tally {
  const counts = lazy(() => new LRUCache<string, Map<string, number>>({ max: maxKeys }));
  return {
    add: (key, partner) => {
      const partners = counts().get(key) ?? new Map<string, number>();
      if (!partners.has(partner) && partners.size >= MAX_COUNTED) partners.delete(rarest(partners));
      partners.set(partner, (partners.get(partner) ?? 0) + 1);
      counts().set(key, partners);
    },
    of: (key) => counts().get(key) ?? new Map(),
  };
}

function rarest(partners: ReadonlyMap<string, number>): string {
  const [first] = [...partners].sort(([, one], [, other]) => one - other);
  return first?.[0] ?? "";
}
