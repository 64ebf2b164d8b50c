import type { Explanation, SearchHit } from "../port/search-index.ts";
import type { Neighbour } from "./example-memory.ts";

export interface Vote {
  /** Share of the neighbours' voices that an entry has, 0 to 1. */
  readonly certainty: number;
  /** The same, counting each neighbour only as far as search had ranked the entry too low for it. */
  readonly correction: number;
}

export interface Verdict {
  readonly votes: ReadonlyMap<string, Vote>;
  /** Share of the voices for which search had ranked an entry above the one that was used. */
  readonly passedOver: ReadonlyMap<string, number>;
}

/** Texts less alike than this have nothing to do with each other. */
const UNLIKE = 0.2;
/** Doubt that a single distant neighbour does not overcome. */
const DOUBT = 0.1;
const HALF_LIFE_MS = 90 * 24 * 3_600_000;
/** Twice the best score of search: enough for agreeing neighbours to outrank any hit. */
const REACH = 2;

/** Counts the voices of a query's neighbours: nearer and newer ones are louder, those against an entry subtract. */
export function countVotes(neighbours: readonly Neighbour[], now: number): Verdict {
  const voices = new Map<string, { all: number; corrections: number }>();
  const passedOver = new Map<string, number>();
  let total = DOUBT;
  for (const { example, likeness } of neighbours) {
    const age = Math.max(0, now - example.at) / HALF_LIFE_MS;
    const voice = Math.max(0, (likeness - UNLIKE) / (1 - UNLIKE)) ** 2 * example.weight * 0.5 ** age;
    const { all, corrections } = voices.get(example.route) ?? { all: 0, corrections: 0 };
    voices.set(example.route, { all: all + voice, corrections: corrections + voice * example.shortfall });
    total += Math.abs(voice);
    if (voice <= 0) continue;
    for (const route of example.passedOver) passedOver.set(route, (passedOver.get(route) ?? 0) + voice);
  }
  const votes = new Map<string, Vote>();
  for (const [route, { all, corrections }] of voices) {
    votes.set(route, { certainty: Math.max(0, all / total), correction: Math.max(0, corrections / total) });
  }
  for (const [route, voice] of passedOver) passedOver.set(route, voice / total);
  return { votes, passedOver };
}

/**
 * Raises the entries that past use speaks for: as far as search had ranked them too low for like queries, and
 * beyond that as far as past use has been right where search was not (`trust`). A first hit that was never used
 * is raised with them, unless it was passed over for like queries: nothing is known against it.
 */
export function liftHits(
  hits: readonly SearchHit[],
  { votes, passedOver }: Verdict,
  trust: (certainty: number) => number,
  wasUsed: (route: string) => boolean,
): SearchHit[] {
  const lifts = new Map<string, number>();
  for (const [route, { certainty, correction }] of votes) {
    const lift = REACH * (correction + trust(certainty) * certainty);
    if (lift > 0) lifts.set(route, lift);
  }
  const first = hits[0];
  if (first && lifts.size > 0 && !wasUsed(first.id)) {
    const highest = Math.max(...lifts.values());
    lifts.set(first.id, highest * Math.max(0, 1 - (passedOver.get(first.id) ?? 0)));
  }
  return addLifts(hits, lifts);
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
