import { LRUCache } from "lru-cache";
import { lazy } from "../../util/lazy.ts";
import type { LearningEvent } from "./learning-event.ts";
import { createTally } from "./tally.ts";

/** A need that nothing shown has met. */
export interface UnmetQuery {
  readonly query: string;
  readonly times: number;
  /** Nothing at all was shown the last time. */
  readonly empty: boolean;
  readonly lastAsked: number;
}

export interface LearningState {
  apply(event: LearningEvent): void;
  /** For each entry that ran after like queries: how surely, from 0 to 1. */
  prior(scope: string, query: string): ReadonlyMap<string, number>;
  /** Entries that often ran after this one, most often first. */
  after(scope: string, route: string): readonly string[];
  /** Most often asked first. */
  unmet(now: number): readonly UnmetQuery[];
}

interface OpenQuery {
  readonly query: string;
  readonly shown: ReadonlySet<string>;
  readonly credited: Set<string>;
  readonly at: number;
  met: boolean;
}

/** A call belongs to a query of the same conversation that is not older than this. */
const WINDOW_MS = 10 * 60_000;
const MAX_CONVERSATIONS = 10_000;
const MAX_TERMS = 50_000;
const MAX_ROUTES = 20_000;
const MAX_UNMET = 1_000;
/** Doubt that a few observations have to overcome. */
const DOUBT = 2;
const OFTEN = 3;
const MAX_NEXT = 2;

/** What was learned, as a fold over events: the same events give the same state. */
export function createLearningState(termsOf: (query: string) => readonly string[]): LearningState {
  const credits = createTally(MAX_TERMS);
  const follows = createTally(MAX_ROUTES);
  const open = lazy(() => new LRUCache<string, OpenQuery>({ max: MAX_CONVERSATIONS }));
  const lastUsed = lazy(
    () =>
      new LRUCache<string, { readonly route: string; readonly at: number }>({
        max: MAX_CONVERSATIONS,
      }),
  );
  const unmet = new LRUCache<string, UnmetQuery>({ max: MAX_UNMET });

  function close(query: OpenQuery): void {
    if (query.met) return;
    const key = query.query.trim().toLowerCase();
    const times = (unmet.get(key)?.times ?? 0) + 1;
    unmet.set(key, { query: query.query, times, empty: query.shown.size === 0, lastAsked: query.at });
  }

  function asked({ conversation, query, shown, at }: LearningEvent & { kind: "asked" }): void {
    const previous = open().get(conversation);
    if (previous) close(previous);
    open().set(conversation, { query, shown: new Set(shown), credited: new Set(), at, met: false });
  }

  function used({ conversation, scope, route, at }: LearningEvent & { kind: "used" }): void {
    const query = open().get(conversation);
    if (query && at - query.at <= WINDOW_MS && !query.credited.has(route)) {
      query.credited.add(route);
      query.met ||= query.shown.has(route);
      for (const term of termsOf(query.query)) credits.add(keyOf(scope, term), route);
    }
    const previous = lastUsed().get(conversation);
    if (previous && previous.route !== route && at - previous.at <= WINDOW_MS) {
      follows.add(keyOf(scope, previous.route), route);
    }
    lastUsed().set(conversation, { route, at });
  }

  return {
    apply: (event) => (event.kind === "asked" ? asked(event) : used(event)),
    prior: (scope, query) => {
      const terms = termsOf(query);
      const prior = new Map<string, number>();
      for (const term of terms) {
        const counts = credits.of(keyOf(scope, term));
        const total = counts.values().reduce((sum, count) => sum + count, DOUBT);
        for (const [route, count] of counts)
          prior.set(route, (prior.get(route) ?? 0) + count / total / terms.length);
      }
      return prior;
    },
    after: (scope, route) =>
      [...follows.of(keyOf(scope, route))]
        .filter(([, count]) => count >= OFTEN)
        .sort(([one, count], [other, otherCount]) => otherCount - count || (one < other ? -1 : 1))
        .slice(0, MAX_NEXT)
        .map(([next]) => next),
    unmet: (now) => {
      for (const [conversation, query] of [...open()]) {
        if (now - query.at <= WINDOW_MS) continue;
        close(query);
        open().delete(conversation);
      }
      return [...unmet.values()].sort(
        (one, other) => other.times - one.times || other.lastAsked - one.lastAsked,
      );
    },
  };
}

function keyOf(scope: string, name: string): string {
  return `${scope}\n${name}`;
}
