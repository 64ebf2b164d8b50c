import type { Explanation, SearchHit } from "../port/search-index.ts";
import type { Candidate, ChoiceModel } from "./choice-model.ts";
import type { Evidence } from "./evidence.ts";

/** The judgement of a scope's past use. */
export interface Judge {
  readonly model: ChoiceModel;
  /** The lead that a used entry needs to take the place of one that was never used. */
  readonly bar: number;
  wasUsed(route: string): boolean;
}

/** Hits that a caller looks at first: those of them that were never used keep their places. */
export const SPARED = 5;
/** An entry was passed over if three in four voices say so: many neighbours, or one that is nearly the query. */
const MOST = 0.75;

/**
 * Ranks hits by search and past use together. Nothing is known of an entry that was never used, so it keeps its
 * place among the first hits, unless it was passed over for like queries or the lead over it is larger than chance
 * explains. An entry that search does not find comes in only if its use is supported: a call may have had nothing to
 * do with the ask before it.
 */
export function liftHits(
  hits: readonly SearchHit[],
  evidence: ReadonlyMap<string, Evidence>,
  { model, bar, wasUsed }: Judge,
): readonly SearchHit[] {
  if (evidence.size === 0) return hits;
  const shares = hits.map(({ id, score }): [string, number] => [id, score / (hits[0]!.score || 1)]);
  const candidates = toCandidates(shares, evidence);
  const mayKeep = (id: string) =>
    !wasUsed(id) &&
    (evidence.get(id)?.passedOver ?? 0) < MOST &&
    leadOver(id, candidates, model, wasUsed) <= bar;
  const spared = shares.slice(0, SPARED).map(([id]) => (mayKeep(id) ? id : undefined));
  const values = Array.from(candidates, ([id, candidate]): [string, number] => [
    id,
    model.toShare(model.score(candidate)),
  ]);
  return liftAround(hits, new Map(values), spared);
}

/**
 * Ranks entries by their values, as shares of search's best score, around hits that keep their places: `spared` has
 * the id of each such hit at its place.
 */
export function liftAround(
  hits: readonly SearchHit[],
  values: ReadonlyMap<string, number>,
  spared: readonly (string | undefined)[],
): SearchHit[] {
  const best = hits[0]?.score || 1;
  const shares = new Map(hits.map(({ id, score }) => [id, score / best]));
  const others = [...values]
    .filter(([id]) => !spared.includes(id))
    .sort(([one, value], [other, otherValue]) => otherValue - value || (one < other ? -1 : 1));
  const ranked: [string, number][] = [];
  while (others.length > 0 || spared[ranked.length] !== undefined) {
    const kept = spared[ranked.length];
    ranked.push(kept === undefined ? others.shift()! : [kept, shares.get(kept)!]);
  }
  // An entry that keeps its place is raised with those that it stays above.
  for (let place = ranked.length - 2; place >= 0; place--) {
    ranked[place]![1] = Math.max(ranked[place]![1], ranked[place + 1]![1]);
  }
  const lifts = ranked.map(([id, value]): [string, number] => [id, value - (shares.get(id) ?? 0)]);
  return addLifts(
    hits,
    new Map(lifts.filter(([, lift]) => lift > 0)),
    new Map(ranked.map(([id], at) => [id, at])),
  );
}

/** Entries that search found, by their shares of its best score, and those that supported use brings in. */
export function toCandidates(
  shares: Iterable<readonly [string, number]>,
  evidence: ReadonlyMap<string, Evidence>,
): Map<string, Candidate> {
  const candidates = new Map<string, Candidate>();
  for (const [id, share] of shares) candidates.set(id, { share, evidence: evidence.get(id) });
  for (const [id, own] of evidence) {
    if (own.isSupported && !candidates.has(id)) candidates.set(id, { share: 0, evidence: own });
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
  return highest - model.toScore(own.share);
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
