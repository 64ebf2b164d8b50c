import { CONTENT_ONLY, FUSION, VECTORS } from "./tuning.ts";

/** A document and its score, on the scale of its ranking. */
export interface Scored {
  readonly id: string;
  readonly score: number;
}

export interface Fused {
  /** Best first, ties by id. The best score is at most 1. */
  readonly hits: readonly Scored[];
  /** How clearly the words decide, 0 to 1. */
  readonly confidence: number;
  /** The ranking that decided. */
  readonly by: "words" | "vectors" | "both";
}

/**
 * Blends rankings by words and by vectors, each divided by its best score. Each counts as far as its best hits stand
 * out from its tenth: an embedder that does not know a query's language scores everything alike and is ignored.
 * `fluency` is how well the embedder knows the query's language, 0 to 1. Lists are sorted best first.
 */
export function fuse(
  words: readonly Scored[],
  vectors: readonly Scored[],
  exactName: boolean,
  fluency = 1,
): Fused {
  const confidence = exactName ? 1 : confidenceOf(words, vectors, fluency);
  const say = sayOfWords(confidence);
  const scores = new Map<string, number>();
  const best = words[0]?.score ?? 1;
  for (const { id, score } of words) scores.set(id, say * (score / best));
  const nearest = vectors[0]?.score ?? 1;
  for (const { id, score } of vectors) {
    const share = (1 - say) * Math.max(0, score / nearest);
    if (share > 0) scores.set(id, (scores.get(id) ?? 0) + share);
  }
  const hits = Array.from(scores, ([id, score]): Scored => ({ id, score }));
  return { hits: hits.sort(bestFirst), confidence, by: leaderOf(confidence) };
}

function leaderOf(confidence: number): Fused["by"] {
  if (confidence > FUSION.wordsDecide) return "words";
  return confidence < FUSION.vectorsLead ? "vectors" : "both";
}

/** Higher scores first, ties by id. */
export function bestFirst(one: Scored, other: Scored): number {
  return other.score - one.score || (one.id < other.id ? -1 : 1);
}

function confidenceOf(words: readonly Scored[], vectors: readonly Scored[], fluency: number): number {
  if (words.length === 0) return 0;
  if (vectors.length === 0) return 1;
  const sureness = peakOf(words) + FUSION.leastPeak;
  return sureness / (sureness + FUSION.vectorPeakWorth * fluency * peakOf(vectors));
}

function sayOfWords(confidence: number): number {
  if (confidence > FUSION.wordsDecide) return 1;
  return confidence < FUSION.vectorsLead ? FUSION.leastSay : confidence;
}

function peakOf(hits: readonly Scored[]): number {
  const best = hits[0]?.score ?? 0;
  if (best <= 0) return 0;
  return 1 - Math.max(0, hits[FUSION.peakPlace - 1]?.score ?? hits.at(-1)!.score) / best;
}

/**
 * Scores documents by their cosines with a query and its clauses. `cosines` has one row for the whole query, which
 * counts twice, and one for each clause, all in the same order of documents.
 */
export function blendCosines(cosines: readonly ArrayLike<number>[]): Float64Array {
  const scores = new Float64Array(cosines[0]?.length ?? 0);
  for (const [at, row] of cosines.entries()) {
    let best = 0;
    for (let place = 0; place < row.length; place++) best = Math.max(best, row[place]!);
    if (best < VECTORS.leastCosine) continue;
    for (let place = 0; place < row.length; place++) {
      const near = Math.max(0, row[place]! / best);
      scores[place]! += at === 0 ? VECTORS.wholeWorth * near : near ** VECTORS.sharpness;
    }
  }
  return scores;
}

/**
 * Share of the match by words that is in embedded fields, 0 to 1. Bodies are not embedded, so vectors count less if the
 * body matched. `terms` are sorted heaviest first; a `name` marks a whole name in the query.
 */
export function seenShare<T extends { readonly weight: number; readonly name?: object }>(
  hits: readonly { readonly id: string }[],
  terms: readonly T[],
  postingsOf: (id: string) => (term: T) => { readonly share: number; readonly fields: number } | undefined,
): number {
  let seen = 0;
  let all = 0;
  for (const { id } of hits.slice(0, VECTORS.judgedHits)) {
    const postingOf = postingsOf(id);
    for (const term of terms) {
      const posting = postingOf(term);
      if (posting === undefined) continue;
      const score = term.weight * posting.share;
      all += score;
      if (term.name !== undefined || posting.fields !== CONTENT_ONLY) seen += score;
    }
  }
  return all === 0 ? 1 : seen / all;
}
