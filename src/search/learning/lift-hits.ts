import type { Explanation, SearchHit } from "../port/search-index.ts";
import type { Candidate, ChoiceModel } from "./choice-model.ts";
import type { Evidence } from "./evidence.ts";

/** The judgement of a scope's past use. */
export interface Judge {
  readonly model: ChoiceModel;
  /** The lead that others need over an entry of which little is known. */
  readonly bar: number;
  /** How many examples an entry has. */
  usesOf(route: string): number;
}

/** Hits that a caller looks at first. Later ones have little to lose. */
export const FIRST = 5;
/** An entry was passed over if three in four voices say so: many neighbours, or one that is nearly the query. */
const MOST = 0.75;
/** An entry with as many examples is known: a query for it hardly ever is unlike all of them. */
const KNOWN = 6;

/**
 * Ranks hits by search and past use together. Little is known of an entry that was hardly ever used, and never for a
 * like query, so others pass it among the first hits only if their lead is larger than chance explains. An entry that
 * search does not find comes in only if its use is supported: a call may have had nothing to do with the ask before it.
 */
export function liftHits(
  hits: readonly SearchHit[],
  evidence: ReadonlyMap<string, Evidence>,
  { model, bar, usesOf }: Judge,
): readonly SearchHit[] {
  if (evidence.size === 0) return hits;
  const shares = hits.map(({ id, score }): [string, number] => [id, score / (hits[0]!.score || 1)]);
  const candidates = toCandidates(shares, evidence);
  const scores = new Map(Array.from(candidates, ([id, candidate]) => [id, model.score(candidate)]));
  const values = new Map(Array.from(candidates, ([id, candidate]) => [id, model.toShare(candidate)]));
  const isKnown = (id: string) => {
    const { isVoiced = false, passedOver = 0 } = evidence.get(id) ?? {};
    return isVoiced || passedOver >= MOST || usesOf(id) >= KNOWN;
  };
  return liftInOrder(hits, values, inOrder(hits, scores, bar, isKnown));
}

/**
 * Entries by their scores, best first. Among the first hits, those of which little is known are ranked as if they
 * led by `bar`, but never above a hit that search ranks higher. Others that lead by less push them down by one place
 * at most.
 */
export function inOrder(
  hits: readonly SearchHit[],
  scores: ReadonlyMap<string, number>,
  bar: number,
  isKnown: (route: string) => boolean,
): string[] {
  const ranks = new Map(scores);
  let unknown: { readonly id: string; readonly place: number }[] = [];
  let lowest = Number.POSITIVE_INFINITY;
  for (const [place, { id }] of hits.slice(0, FIRST).entries()) {
    if (!isKnown(id)) {
      ranks.set(id, Math.min(scores.get(id)! + bar, lowest));
      unknown.push({ id, place });
    }
    lowest = Math.min(lowest, ranks.get(id)!);
  }
  // Infinite ranks have no difference to sort by.
  const ranked = [...ranks].sort(([, one], [, other]) => Number(one < other) - Number(one > other));
  let rest = ranked.map(([id]) => id);
  const order: string[] = [];
  while (unknown.length > 0) {
    const [next] = rest as [string];
    const [due] = unknown as [(typeof unknown)[number]];
    const isDue = due.place < order.length && scores.get(next)! <= scores.get(due.id)! + bar;
    const taken = isDue ? due.id : next;
    order.push(taken);
    rest = rest.filter((id) => id !== taken);
    unknown = unknown.filter(({ id }) => id !== taken);
  }
  return [...order, ...rest];
}

/** Raises hits to their values, as shares of search's best score, and to the places of `order`. */
export function liftInOrder(
  hits: readonly SearchHit[],
  values: ReadonlyMap<string, number>,
  order: readonly string[],
): SearchHit[] {
  const best = hits[0]?.score || 1;
  const shares = new Map(hits.map(({ id, score }) => [id, score / best]));
  const lifts = new Map<string, number>();
  let value = 0;
  // An entry that keeps its place is raised with those that it stays above.
  for (const id of order.toReversed()) {
    const share = shares.get(id) ?? 0;
    value = Math.max(value, values.get(id)!);
    if (value > share) lifts.set(id, value - share);
  }
  return addLifts(hits, lifts, new Map(order.map((id, at) => [id, at])));
}

/** Entries that search found, by their shares of its best score, and those that supported use brings in. */
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

/** How far the best used entry that search ranks lower leads over an entry by past use. */
export function leadOver(
  route: string,
  candidates: ReadonlyMap<string, Candidate>,
  model: ChoiceModel,
  wasUsed: (route: string) => boolean,
): number {
  const own = candidates.get(route)!;
  let highest = Number.NEGATIVE_INFINITY;
  for (const [other, candidate] of candidates) {
    if (other === route || candidate.share > own.share || !wasUsed(other)) continue;
    highest = Math.max(highest, model.score(candidate));
  }
  return highest - model.score(own);
}

/** Enough to decide between hits that search finds about equal, and no more. */
const EXPECTED = 0.1;

/** Raises hits that often follow the last call a little. Brings in nothing that search did not find. */
export function liftExpected(hits: readonly SearchHit[], expected: readonly string[]): readonly SearchHit[] {
  const found = hits.filter((hit) => expected.includes(hit.id));
  return found.length === 0 ? hits : addLifts(hits, new Map(found.map(({ id }) => [id, EXPECTED])));
}

const NOTHING_FOUND: Explanation = { lexical: 0, exactName: false, fields: {}, terms: [] };

/** Adds shares of the best score to hits, and brings in entries that search did not find. `places` decides the order. */
function addLifts(
  hits: readonly SearchHit[],
  lifts: ReadonlyMap<string, number>,
  places?: ReadonlyMap<string, number>,
): SearchHit[] {
  if (lifts.size === 0) return [...hits];
  const placeOf = ({ id }: SearchHit) => places?.get(id) ?? places?.size ?? 0;
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
    .sort((one, other) =>
      // Sums of shares differ in their last bits, so scores alone would not keep places.
      places ? placeOf(one) - placeOf(other) : other.score - one.score,
    );
}
