import type { Explanation, SearchHit } from "../port/search-index.ts";
import { EXPECTED_LIFT, USE } from "../ranking/tuning.ts";
import type { Neighbour } from "./example-memory.ts";

/**
 * Ranks hits by search and past use together. An entry that search did not find is added only with supporting use: a
 * call may be unrelated to the ask before it.
 */
export function liftHits(
  hits: readonly SearchHit[],
  evidence: ReadonlyMap<string, Evidence>,
  model: ChoiceModel,
): readonly SearchHit[] {
  if (evidence.size === 0) return hits;
  const shares = hits.map(({ id, score }): [string, number] => [id, score / (hits[0]!.score || 1)]);
  const candidates = toCandidates(shares, evidence);
  const values = new Map(Array.from(candidates, ([id, candidate]) => [id, model.toShare(candidate)]));
  const order = Array.from(candidates, ([id, candidate]) => ({ id, score: model.score(candidate) }))
    .sort((one, other) => other.score - one.score)
    .map(({ id }) => id);
  return liftInOrder(hits, values, order);
}

/** Raises hits to their values, as shares of search's best score, and to their positions in `order`. */
export function liftInOrder(
  hits: readonly SearchHit[],
  values: ReadonlyMap<string, number>,
  order: readonly string[],
): SearchHit[] {
  const best = hits[0]?.score || 1;
  const shares = new Map(hits.map(({ id, score }) => [id, score / best]));
  const lifts = new Map<string, number>();
  let value = 0;
  // An entry that keeps its position is raised with those that it stays above.
  for (const id of order.toReversed()) {
    const share = shares.get(id) ?? 0;
    value = Math.max(value, values.get(id)!);
    if (value > share) lifts.set(id, value - share);
  }
  return addLifts(hits, lifts, new Map(order.map((id, at) => [id, at])));
}

/** Entries that search found, with their shares of its best score, and entries with supporting use. */
export function toCandidates(
  shares: readonly (readonly [string, number])[],
  evidence: ReadonlyMap<string, Evidence>,
): Map<string, Candidate> {
  const candidates = new Map<string, Candidate>();
  const margin = 1 - (shares[1]?.[1] ?? 0);
  for (const [place, [id, share]] of shares.entries())
    candidates.set(id, {
      share,
      margin: place === 0 ? margin : 0,
      place: 1 / (1 + place),
      evidence: evidence.get(id),
    });
  for (const [id, own] of evidence) {
    if (own.isSupported && !candidates.has(id))
      candidates.set(id, { share: 0, margin: 0, place: 0, evidence: own });
  }
  return candidates;
}

/**
 * Raises or adds entries that enough other principals used for similar queries. They stay below every hit that search
 * finds well, so that no principal decides for others what comes first.
 */
export function liftShared(
  hits: readonly SearchHit[],
  users: ReadonlyMap<string, number>,
): readonly SearchHit[] {
  const raised = [...users].filter(([, count]) => count >= USE.often).sort(([, a], [, b]) => b - a);
  if (raised.length === 0) return hits;
  const shares = new Map(hits.map(({ id, score }) => [id, score / (hits[0]!.score || 1)]));
  const isRaised = (id: string) => users.get(id)! >= USE.often && (shares.get(id) ?? 0) < USE.foundWell;
  const [well, others] = [true, false].map((is) =>
    hits.map(({ id }) => id).filter((id) => !isRaised(id) && shares.get(id)! >= USE.foundWell === is),
  );
  const order = [...well!, ...raised.map(([id]) => id).filter(isRaised), ...others!];
  const values = new Map(order.map((id) => [id, isRaised(id) ? USE.sharedShare : shares.get(id)!]));
  return liftInOrder(hits, values, order);
}

/** Slightly raises hits that often follow the last call. Adds no entries. */
export function liftExpected(hits: readonly SearchHit[], expected: readonly string[]): readonly SearchHit[] {
  const expectedHits = hits.filter((hit) => expected.includes(hit.id));
  return expectedHits.length === 0
    ? hits
    : addLifts(hits, new Map(expectedHits.map(({ id }) => [id, EXPECTED_LIFT])));
}

const NOTHING_FOUND: Explanation = { lexical: 0, exactName: false, fields: {}, terms: [] };

/** Adds shares of the best score to hits, and entries that search did not find. `places` decides the order. */
function addLifts(
  hits: readonly SearchHit[],
  lifts: ReadonlyMap<string, number>,
  places?: ReadonlyMap<string, number>,
): SearchHit[] {
  if (lifts.size === 0) return [...hits];
  const placeOf = ({ id }: SearchHit) => places?.get(id) ?? places?.size ?? 0;
  const best = hits[0]?.score || 1;
  const hitIds = new Set(hits.map((hit) => hit.id));
  const nothing = hits.some((hit) => hit.explanation) && { explanation: NOTHING_FOUND };
  const brought = [...lifts.keys()]
    .filter((id) => !hitIds.has(id))
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
    .sort((one, other) =>
      // Sums of shares differ in the last bits, so scores alone would not preserve positions.
      places ? placeOf(one) - placeOf(other) : other.score - one.score,
    );
}

/** An entry that may meet the need of a query. */
interface Candidate {
  /** Search's score as a share of the best one; 0 if search did not find it. */
  readonly share: number;
  /** For search's first hit, its lead over the second as a share of its score; otherwise 0. */
  readonly margin: number;
  /** 1 for search's first hit, 1/2 for the second, 1/3 for the third; 0 if search did not find it. */
  readonly place: number;
  readonly evidence: Evidence | undefined;
}

/**
 * Learns how much to trust past use compared with search: a conditional logit over the entries that each use chose
 * from, corrected after every use. If queries repeat, weights of past use grow; otherwise they fall to zero.
 */
export class ChoiceModel {
  private readonly weights: number[] = [...USE.prior];

  /** Log-odds of a candidate. Evidence never lowers a candidate. */
  score(candidate: Candidate): number {
    return dot(this.weights, featuresOf(candidate));
  }

  /** Search's share plus the contribution of past use, as a share of search's best score. */
  toShare(candidate: Candidate): number {
    return this.score({ ...candidate, margin: 0, place: 0 }) / this.weights[0]!;
  }

  /** Corrects the weights by one use. `candidates` include the chosen one. */
  learn(chosen: Candidate, candidates: readonly Candidate[]): void {
    const features = candidates.map(featuresOf);
    const scores = features.map((feature) => dot(this.weights, feature));
    const highest = Math.max(...scores);
    const odds = scores.map((score) => Math.exp(score - highest));
    const total = odds.reduce((sum, each) => sum + each, 0);
    for (const [at, value] of featuresOf(chosen).entries()) {
      const expected = features.reduce(
        (sum, feature, place) => sum + (odds[place]! / total) * feature[at]!,
        0,
      );
      const pulled = USE.pull * (USE.prior[at]! - this.weights[at]!);
      const least = at === 0 ? USE.leastShareWeight : 0;
      this.weights[at] = Math.max(least, this.weights[at]! + USE.rate * (value - expected + pulled));
    }
  }
}

function featuresOf({ share, margin, place, evidence }: Candidate): readonly number[] {
  const { certainty = 0, nearness = 0, correction = 0 } = evidence ?? {};
  return [share, margin, place, certainty, nearness, correction];
}

function dot(weights: readonly number[], features: readonly number[]): number {
  return features.reduce((sum, value, at) => sum + value * weights[at]!, 0);
}

/** The evidence of similar past queries for an entry. All values are shares from 0 to 1. */
export interface Evidence {
  /** The entry's share of all votes. */
  readonly certainty: number;
  /** The strongest single vote for the entry. */
  readonly nearness: number;
  /** Its share of the votes, each weighted by how far search had ranked the entry too low for that query. */
  readonly correction: number;
  /** Whether an ask had shown the entry, two asks agree on it, or one is nearly equal to the query. */
  readonly isSupported: boolean;
}

interface Votes {
  sum: number;
  corrections: number;
  loudestFor: number;
  loudestAgainst: number;
  readonly asks: Set<string>;
  isSupported: boolean;
}

/** Counts the votes of a query's neighbours by entry: nearer and newer ones weigh more, failures count against it. */
export function weighNeighbours(
  neighbours: readonly Neighbour[],
  now: number,
): ReadonlyMap<string, Evidence> {
  const voices = new Map<string, Votes>();
  const of = (route: string): Votes => {
    const votes = voices.get(route) ?? noVotes();
    voices.set(route, votes);
    return votes;
  };
  let total: number = USE.doubt;
  for (const { example, likeness } of neighbours) {
    const age = Math.max(0, now - example.at) / USE.halfLifeMs;
    const loudness = Math.max(0, (likeness - USE.unlike) / (1 - USE.unlike)) ** 2 * 0.5 ** age;
    const voice = loudness * example.weight;
    if (voice === 0) continue;
    const ofEntry = of(example.route);
    ofEntry.sum += voice;
    ofEntry.corrections += voice * example.shortfall;
    total += Math.abs(voice);
    if (voice < 0) {
      ofEntry.loudestAgainst = Math.max(ofEntry.loudestAgainst, -voice);
      continue;
    }
    ofEntry.loudestFor = Math.max(ofEntry.loudestFor, voice);
    ofEntry.asks.add(example.ask);
    ofEntry.isSupported ||= example.shown || likeness >= USE.same || ofEntry.asks.size > 1;
  }
  return new Map(Array.from(voices, ([route, own]) => [route, toEvidence(own, total)]));
}

function noVotes(): Votes {
  const none = { sum: 0, corrections: 0, loudestFor: 0, loudestAgainst: 0 };
  return { ...none, asks: new Set(), isSupported: false };
}

function toEvidence(ofOne: Votes, total: number): Evidence {
  return {
    certainty: Math.max(0, ofOne.sum / total),
    nearness: Math.max(0, ofOne.loudestFor - ofOne.loudestAgainst),
    correction: Math.max(0, ofOne.corrections / total),
    isSupported: ofOne.isSupported,
  };
}
