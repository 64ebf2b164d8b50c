/** A document and how well it fits, in the measure of whoever ranked it. */
export interface Scored {
  readonly id: string;
  readonly score: number;
}

export interface Fused {
  /** Best first, ties by id; the best scores at most 1. */
  readonly hits: readonly Scored[];
  /** How far the words settle the query, 0 to 1. */
  readonly confidence: number;
  /** The ranking that decided. */
  readonly by: "words" | "vectors" | "both";
}

/** Above this the words decide alone. */
const HIGH_MARK = 0.8;
/** Below this the vectors lead, and the words keep a small say. */
const LOW_MARK = 0.3;
const LEAST_SAY = 0.1;

/** A list is sure of itself if its best stands well above the hit at this place. */
const PEAK_PLACE = 10;
/** Cosines lie closer together than word scores: their peak counts this many times. */
const VECTOR_PEAK_WORTH = 2;
const LEAST_PEAK = 0.1;

/**
 * Blends a ranking by words with one by vectors, each divided by its best score. Each is trusted as far as it
 * tells its best hits from its tenth: an embedder that does not know a query's language finds everything alike
 * and is left out. `fluency` is how well the embedder knows the query's language, 0 to 1. Lists are best first.
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
  if (confidence > HIGH_MARK) return "words";
  return confidence < LOW_MARK ? "vectors" : "both";
}

/** Higher scores first, ties by id. */
export function bestFirst(one: Scored, other: Scored): number {
  return other.score - one.score || (one.id < other.id ? -1 : 1);
}

function confidenceOf(words: readonly Scored[], vectors: readonly Scored[], fluency: number): number {
  if (words.length === 0) return 0;
  if (vectors.length === 0) return 1;
  const sureness = peakOf(words) + LEAST_PEAK;
  return sureness / (sureness + VECTOR_PEAK_WORTH * fluency * peakOf(vectors));
}

function sayOfWords(confidence: number): number {
  if (confidence > HIGH_MARK) return 1;
  return confidence < LOW_MARK ? LEAST_SAY : confidence;
}

function peakOf(hits: readonly Scored[]): number {
  const best = hits[0]?.score ?? 0;
  if (best <= 0) return 0;
  return 1 - Math.max(0, hits[PEAK_PLACE - 1]?.score ?? hits.at(-1)!.score) / best;
}
