import { LRUCache } from "lru-cache";
import { lazy } from "../../base/util/lazy.ts";

/** Entries that ran one after the other. */
export type FollowUps = ReturnType<typeof createFollowUps>;

/** Values by key. The ones that were unused for longest are dropped. */
interface LastUsed<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): unknown;
  delete(key: string): boolean;
  values(): Iterable<Value>;
  [Symbol.iterator](): Iterator<[string, Value]>;
}

/**
 * The last used values. With `max`, the cache would take the memory of a full one at once: 2 MB for all of learning
 * (bar "4 servers, 1 session" of `npm run bench -- sessions`).
 */
export function createLastUsed<Value extends object>(most: number): LastUsed<Value> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1 });
}

const MAX_ROUTES = 20_000;
const MAX_NEXT_COUNTED = 32;
const OFTEN = 3;
const MAX_NEXT = 2;

/**
 * Counts a principal's own uses for itself; for others, counts how many principals of the scope did the same. So no
 * single principal can suggest a next step to others.
 */
export function createFollowUps() {
  const countsOfOwn = lazy(() => createLastUsed<Map<string, number>>(MAX_ROUTES));
  const doneBy = lazy(() => createLastUsed<Map<string, Set<string>>>(MAX_ROUTES));
  return {
    note: ({
      scope,
      principal,
      route,
      next,
    }: {
      scope: string;
      principal: string;
      route: string;
      next: string;
    }) => {
      const ownKey = JSON.stringify([scope, principal, route]);
      const counts = countsOfOwn().get(ownKey) ?? new Map<string, number>();
      makeRoom(counts, next, (count) => count);
      countsOfOwn().set(ownKey, counts.set(next, (counts.get(next) ?? 0) + 1));
      const key = JSON.stringify([scope, route]);
      const principals = doneBy().get(key) ?? new Map<string, Set<string>>();
      makeRoom(principals, next, ({ size }) => size);
      const ofNext = principals.get(next) ?? new Set<string>();
      if (ofNext.size < OFTEN) ofNext.add(principal);
      doneBy().set(key, principals.set(next, ofNext));
    },
    /** Entries that often ran after this one, most frequent first. */
    after: (scope: string, route: string, principal: string): readonly string[] => {
      const followed = doneBy().get(JSON.stringify([scope, route]));
      if (!followed) return [];
      const counts = new Map(countsOfOwn().get(JSON.stringify([scope, principal, route])));
      for (const [next, principals] of followed)
        counts.set(next, Math.max(counts.get(next) ?? 0, principals.size));
      return mostOften(counts);
    },
    /** Entries that this principal often ran after this one. */
    ofOwn: (scope: string, route: string, principal: string): readonly string[] =>
      mostOften(countsOfOwn().get(JSON.stringify([scope, principal, route])) ?? new Map()),
  };
}

function mostOften(counts: ReadonlyMap<string, number>): string[] {
  return [...counts]
    .filter(([, count]) => count >= OFTEN)
    .sort(([one, count], [other, otherCount]) => otherCount - count || (one < other ? -1 : 1))
    .slice(0, MAX_NEXT)
    .map(([next]) => next);
}

/** Deletes the rarest of `MAX_NEXT_COUNTED` entries to make room for a new one. */
function makeRoom<V>(counted: Map<string, V>, next: string, countOf: (value: V) => number): void {
  if (counted.has(next) || counted.size < MAX_NEXT_COUNTED) return;
  const [rarest] = [...counted].sort(([, one], [, other]) => countOf(one) - countOf(other));
  counted.delete(rarest![0]);
}

/** Calls that several conversations made one after the other. */
export interface RepeatedCalls {
  /** The routes in order. A route that was called several times in a row appears once. */
  readonly routes: readonly string[];
  /** Number of these conversations. */
  readonly conversations: number;
  readonly lastUsed: number;
}

interface CountedSequence {
  readonly routes: readonly string[];
  readonly conversations: Set<string>;
  lastUsed: number;
}

const SHORTEST = 3;
const LONGEST = 6;
/** Fewer conversations are a coincidence. */
const OFTEN_REPEATED = 3;
const MOST_COUNTED = 1_000;
const MAX_SEQUENCES = 5_000;
const MAX_CONVERSATIONS = 10_000;
const MAX_LISTED = 20;
/** Calls with a longer pause belong to different tasks. */
const WINDOW_MS = 10 * 60_000;

/** Counts the conversations in which a sequence of calls occurs. */
export function createRepeats() {
  const recent = lazy(() => createLastUsed<{ routes: readonly string[]; at: number }>(MAX_CONVERSATIONS));
  const counts = lazy(() => createLastUsed<CountedSequence>(MAX_SEQUENCES));

  function count(routes: readonly string[], scope: string, conversation: string, at: number): void {
    const key = JSON.stringify([scope, routes]);
    const sequence = counts().get(key) ?? { routes, conversations: new Set<string>(), lastUsed: at };
    if (sequence.conversations.size < MOST_COUNTED) sequence.conversations.add(conversation);
    sequence.lastUsed = at;
    counts().set(key, sequence);
  }

  return {
    note: ({
      conversation,
      scope,
      route,
      at,
    }: {
      conversation: string;
      scope: string;
      route: string;
      at: number;
    }) => {
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
    /** Sequences of enough conversations, by how many calls they would save. */
    list: (): readonly RepeatedCalls[] => {
      const often = [...counts().values()].filter(
        ({ conversations }) => conversations.size >= OFTEN_REPEATED,
      );
      const worth = ({ routes, conversations }: CountedSequence) => (routes.length - 1) * conversations.size;
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
function isPartOf(one: CountedSequence, other: CountedSequence): boolean {
  if (other.routes.length <= one.routes.length) return false;
  if (other.conversations.size < one.conversations.size) return false;
  return `${other.routes.join("\n")}\n`.includes(`${one.routes.join("\n")}\n`);
}
