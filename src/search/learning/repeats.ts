import { LRUCache } from "lru-cache";
import { lazy } from "../../util/lazy.ts";

/** Calls that several conversations made one after the other. */
export interface RepeatedCalls {
  /** The routes in their order. A route that was called several times in a row is there once. */
  readonly routes: readonly string[];
  /** How many conversations did so. */
  readonly conversations: number;
  readonly lastUsed: number;
}

export interface Repeats {
  note(use: { conversation: string; scope: string; route: string; at: number }): void;
  /** Sequences of enough conversations, those that would save most calls first. */
  list(): readonly RepeatedCalls[];
}

interface Counted {
  readonly routes: readonly string[];
  readonly conversations: Set<string>;
  lastUsed: number;
}

const SHORTEST = 3;
const LONGEST = 6;
/** Fewer conversations are a coincidence. */
const OFTEN = 3;
const MOST_COUNTED = 1_000;
const MAX_SEQUENCES = 5_000;
const MAX_CONVERSATIONS = 10_000;
const MAX_LISTED = 20;
/** Calls that are further apart belong to different tasks. */
const WINDOW_MS = 10 * 60_000;

/** Counts in how many conversations a sequence of calls occurs. */
export function createRepeats(): Repeats {
  const recent = lazy(
    () => new LRUCache<string, { routes: readonly string[]; at: number }>({ max: MAX_CONVERSATIONS }),
  );
  const counts = lazy(() => new LRUCache<string, Counted>({ max: MAX_SEQUENCES }));

  function count(routes: readonly string[], scope: string, conversation: string, at: number): void {
    const key = JSON.stringify([scope, routes]);
    const known = counts().get(key) ?? { routes, conversations: new Set<string>(), lastUsed: at };
    if (known.conversations.size < MOST_COUNTED) known.conversations.add(conversation);
    known.lastUsed = at;
    counts().set(key, known);
  }

  return {
    note: ({ conversation, scope, route, at }) => {
      const key = JSON.stringify([scope, conversation]);
      const before = recent().get(key);
      const earlier = before && at - before.at <= WINDOW_MS ? before.routes : [];
      if (before && earlier.at(-1) === route) {
        before.at = at;
        return;
      }
      const routes = [...earlier, route].slice(-LONGEST);
      recent().set(key, { routes, at });
      for (let length = SHORTEST; length <= routes.length; length++)
        count(routes.slice(-length), scope, conversation, at);
    },
    list: () => {
      const often = [...counts().values()].filter(({ conversations }) => conversations.size >= OFTEN);
      const worth = ({ routes, conversations }: Counted) => (routes.length - 1) * conversations.size;
      return often
        .filter((one) => !often.some((other) => isPartOf(one, other)))
        .sort((one, other) => worth(other) - worth(one) || other.lastUsed - one.lastUsed)
        .slice(0, MAX_LISTED)
        .map(({ routes, conversations, lastUsed }) => ({
          routes,
          conversations: conversations.size,
          lastUsed,
        }));
    },
  };
}

/** Whether a longer sequence of as many conversations contains it. */
function isPartOf(one: Counted, other: Counted): boolean {
  if (other.routes.length <= one.routes.length) return false;
  if (other.conversations.size < one.conversations.size) return false;
  return `${other.routes.join("\n")}\n`.includes(`${one.routes.join("\n")}\n`);
}
