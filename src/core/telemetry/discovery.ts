import { LRUCache } from "lru-cache";
import { lazy } from "../../base/util/lazy.ts";
import type { Publish, SearchEvent } from "./events.ts";

/** The ranking that answered a search: words, vectors, or both. */
type SearchedBy = NonNullable<SearchEvent["by"]>;

/** How well the searches of a gateway worked since it was created. */
export interface DiscoveryFigures {
  /** Needs searched for. One `ask` may have several. */
  readonly searches: number;
  /** Searches that found something. */
  readonly found: number;
  /** Searches after which the same conversation used an entry that they found. */
  readonly ledToCall: number;
  /** Searches by ranking, if the engine reports it. */
  readonly by: Readonly<Record<SearchedBy, number>>;
  /** Mean milliseconds of the search by words and of the search by vectors. */
  readonly meanMs: { readonly words: number; readonly vectors: number };
}

/** A search of a conversation with its hits. */
type DiscoverySearch = Pick<SearchEvent, "by" | "wordsMs" | "vectorsMs"> & {
  readonly conversation: string;
  readonly routes: readonly string[];
};

export type Discovery = ReturnType<typeof createDiscovery>;

const MAX_CONVERSATIONS = 1_000;
/** Recent searches of a conversation that a call may still belong to. */
const MOST_OPEN = 8;

interface OpenSearch {
  readonly routes: ReadonlySet<string>;
  readonly at: number;
}

/** Counts how well search works, and publishes each count as an event. */
export function createDiscovery(publish: Publish) {
  const open = lazy(() => new LRUCache<string, readonly OpenSearch[]>({ max: MAX_CONVERSATIONS }));
  const by: Record<SearchedBy, number> = { words: 0, vectors: 0, both: 0 };
  const times = { words: { sum: 0, count: 0 }, vectors: { sum: 0, count: 0 } };
  let searches = 0;
  let successful = 0;
  let ledToCall = 0;

  function time(part: keyof typeof times, ms: number | undefined): void {
    if (ms === undefined) return;
    times[part].sum += ms;
    times[part].count += 1;
  }

  return {
    searched: ({ conversation, routes, ...how }: DiscoverySearch): void => {
      searches += 1;
      if (how.by) by[how.by] += 1;
      time("words", how.wordsMs);
      time("vectors", how.vectorsMs);
      publish({ type: "search", found: routes.length, ...how });
      if (routes.length === 0) return;
      successful += 1;
      const search = { routes: new Set(routes), at: performance.now() };
      open().set(conversation, [...(open().get(conversation) ?? []), search].slice(-MOST_OPEN));
    },
    /** Records that a conversation used an entry. */
    used: (conversation: string, route: string): void => {
      const waiting = open().get(conversation) ?? [];
      const met = waiting.filter(({ routes }) => routes.has(route));
      if (met.length === 0) return;
      open().set(
        conversation,
        waiting.filter((search) => !met.includes(search)),
      );
      ledToCall += met.length;
      for (const { at } of met) publish({ type: "search-used", afterMs: performance.now() - at });
    },
    figures: (): DiscoveryFigures => ({
      searches,
      found: successful,
      ledToCall,
      by: { ...by },
      meanMs: { words: meanOf(times.words), vectors: meanOf(times.vectors) },
    }),
  };
}

function meanOf({ sum, count }: { readonly sum: number; readonly count: number }): number {
  return count === 0 ? 0 : sum / count;
}
