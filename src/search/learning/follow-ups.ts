import { LRUCache } from "lru-cache";
import { lazy } from "../../util/lazy.ts";
import { createTally } from "./tally.ts";

/** Entries that ran one after the other. */
export interface FollowUps {
  note(use: { scope: string; principal: string; route: string; next: string }): void;
  /** Entries that often ran after this one, most often first. */
  after(scope: string, route: string, principal: string, most?: number): readonly string[];
}

const MAX_ROUTES = 20_000;
const MAX_NEXT_COUNTED = 32;
const OFTEN = 3;
const MAX_NEXT = 2;
const NOTHING: readonly string[] = [];

/**
 * Counts a principal's own uses for itself, and for others how many principals of the scope did the same. One
 * principal alone therefore cannot suggest a next step to others.
 */
export function createFollowUps(): FollowUps {
  const own = createTally(MAX_ROUTES);
  const doneBy = lazy(() => new LRUCache<string, Map<string, Set<string>>>({ max: MAX_ROUTES }));
  return {
    note: ({ scope, principal, route, next }) => {
      own.add(JSON.stringify([scope, principal, route]), next);
      const key = JSON.stringify([scope, route]);
      const principals = doneBy().get(key) ?? new Map<string, Set<string>>();
      if (!principals.has(next) && principals.size >= MAX_NEXT_COUNTED) principals.delete(rarest(principals));
      const ofNext = principals.get(next) ?? new Set<string>();
      if (ofNext.size < OFTEN) ofNext.add(principal);
      doneBy().set(key, principals.set(next, ofNext));
    },
    after: (scope, route, principal, most = MAX_NEXT) => {
      if (doneBy().size === 0) return NOTHING;
      const followed = doneBy().get(JSON.stringify([scope, route]));
      if (!followed) return NOTHING;
      const counts = new Map(own.of(JSON.stringify([scope, principal, route])));
      for (const [next, principals] of followed)
        counts.set(next, Math.max(counts.get(next) ?? 0, principals.size));
      return [...counts]
        .filter(([, count]) => count >= OFTEN)
        .sort(([one, count], [other, otherCount]) => otherCount - count || (one < other ? -1 : 1))
        .slice(0, most)
        .map(([next]) => next);
    },
  };
}

function rarest(principals: ReadonlyMap<string, ReadonlySet<string>>): string {
  const [first] = [...principals].sort(([, one], [, other]) => one.size - other.size);
  return first?.[0] ?? "";
}
