import type { Explanation, SearchHit } from "../port/search-index.ts";
import type { Neighbour } from "./example-memory.ts";

export interface Vote {
  /** Share of the neighbours' voices that an entry has, 0 to 1. */
  readonly certainty: number;
  /** The same, counting each neighbour only as far as search had ranked the entry too low for it. */
  readonly correction: number;
  /** Whether an ask had shown the entry, two asks agree on it, or one is nearly the query. */
  readonly isSupported: boolean;
}

export interface Verdict {
  readonly votes: ReadonlyMap<string, Vote>;
  /** Share of the voices for which search had ranked an entry above the one that was used. */
  readonly passedOver: ReadonlyMap<string, number>;
  /** Likeness of the nearest neighbour that speaks for an entry. */
  readonly nearest: number;
}

/** Texts less alike than this share a subject at most, not a need. */
const UNLIKE = 0.3;
/** Texts at least this alike differ in an article or an ending. */
const SAME = 0.9;
/** Doubt that a single distant neighbour does not overcome. */
const DOUBT = 0.2;
const HALF_LIFE_MS = 90 * 24 * 3_600_000;
/** Twice the best score of search: enough for agreeing neighbours to outrank any hit. */
const REACH = 2;
/** Hits that a caller looks at first: those of them that were never used keep their places behind such a first hit. */
const SPARED = 5;

interface Voices {
  all: number;
  corrections: number;
  readonly asks: Set<string>;
  isSupported: boolean;
}

/** Counts the voices of a query's neighbours: nearer and newer ones are louder, those against an entry subtract. */
export function countVotes(neighbours: readonly Neighbour[], now: number): Verdict {
  const voices = new Map<string, Voices>();
  const passedOver = new Map<string, number>();
  let total = DOUBT;
  let nearest = 0;
  for (const { example, likeness } of neighbours) {
    const age = Math.max(0, now - example.at) / HALF_LIFE_MS;
    const voice = Math.max(0, (likeness - UNLIKE) / (1 - UNLIKE)) ** 2 * example.weight * 0.5 ** age;
    const own = voices.get(example.route) ?? { all: 0, corrections: 0, asks: new Set(), isSupported: false };
    voices.set(example.route, own);
    own.all += voice;
    own.corrections += voice * example.shortfall;
    total += Math.abs(voice);
    if (voice <= 0) continue;
    nearest = Math.max(nearest, likeness);
    own.asks.add(example.ask);
    own.isSupported ||= example.shown || likeness >= SAME || own.asks.size > 1;
    for (const route of example.passedOver) passedOver.set(route, (passedOver.get(route) ?? 0) + voice);
  }
  const votes = new Map<string, Vote>();
  for (const [route, { all, corrections, isSupported }] of voices) {
    const shareOf = (voice: number) => Math.max(0, voice / total);
    votes.set(route, { certainty: shareOf(all), correction: shareOf(corrections), isSupported });
  }
  for (const [route, voice] of passedOver) passedOver.set(route, voice / total);
  return { votes, passedOver, nearest };
}

/**
 * Raises the entries that past use speaks for: as far as search had ranked them too low for like queries, and
 * beyond that as far as past use has been right where search was not (`trust`). Nothing
 * is known against a first hit that was never used: over it, they are raised only as far as the nearest query is
 * like this one, and it is raised with them, as are others near it that were never used, unless they were passed over
 * for like queries. An entry that search
 * does not find comes in only if its use is supported: a call may have had nothing to do with the ask before it.
 */
export function liftHits(
  hits: readonly SearchHit[],
  { votes, passedOver, nearest }: Verdict,
  trust: (certainty: number) => number,
  wasUsed: (route: string) => boolean,
): SearchHit[] {
  const first = hits[0];
  const isFirstUnused = first !== undefined && !wasUsed(first.id);
  const reach = isFirstUnused ? REACH * nearest ** 2 : REACH;
  const found = new Set(hits.map((hit) => hit.id));
  const lifts = new Map<string, number>();
  for (const [route, { certainty, correction, isSupported }] of votes) {
    if (!isSupported && !found.has(route)) continue;
    const lift = reach * (correction + trust(certainty) * certainty);
    if (lift > 0) lifts.set(route, lift);
  }
  if (isFirstUnused && lifts.size > 0) {
    const highest = Math.max(...lifts.values());
    for (const { id } of hits.slice(0, SPARED)) {
      if (!wasUsed(id)) lifts.set(id, highest * Math.max(0, 1 - (passedOver.get(id) ?? 0)));
    }
  }
  return addLifts(hits, lifts);
}

/** Enough to decide between hits that search finds about equal, and no more. */
const EXPECTED = 0.1;

/** Raises hits that often follow the last call a little. Brings in nothing that search did not find. */
export function liftExpected(hits: readonly SearchHit[], expected: readonly string[]): readonly SearchHit[] {
  const found = hits.filter((hit) => expected.includes(hit.id));
  return found.length === 0 ? hits : addLifts(hits, new Map(found.map(({ id }) => [id, EXPECTED])));
}

const NOTHING_FOUND: Explanation = { lexical: 0, exactName: false, fields: {}, terms: [] };

/** Adds shares of the best score to hits, and brings in entries that search did not find. */
export function addLifts(hits: readonly SearchHit[], lifts: ReadonlyMap<string, number>): SearchHit[] {
  if (lifts.size === 0) return [...hits];
  const best = hits[0]?.score || 1;
  const known = new Set(hits.map((hit) => hit.id));
  const nothing = hits.some((hit) => hit.explanation) && { explanation: NOTHING_FOUND };
  const brought = [...lifts.keys()]
    .filter((id) => !known.has(id))
    .map((id): SearchHit => ({ id, score: 0, ...nothing }));
  return [...hits, ...brought]
    .map((hit): SearchHit => {
      const lift = lifts.get(hit.id) ?? 0;
      if (lift === 0) return hit;
      return {
        ...hit,
        score: hit.score + lift * best,
        ...(hit.explanation && {
          explanation: { ...hit.explanation, learned: (hit.explanation.learned ?? 0) + lift },
        }),
      };
    })
    .sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1));
}
