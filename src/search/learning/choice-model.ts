import type { Evidence } from "./evidence.ts";

/** An entry that may serve a query. */
export interface Candidate {
  /** Search's score, as a share of the best one; 0 where search did not find it. */
  readonly share: number;
  /** How far search's first hit leads over its second, as a share of the first; 0 for all others. */
  readonly margin: number;
  /** 1 for search's first hit, 1/2 for its second, 1/3 for its third; 0 where search did not find it. */
  readonly place: number;
  readonly evidence: Evidence | undefined;
}

/**
 * Weights before anything is learned, for search's share, margin and place, certainty, nearness and correction. A
 * place that search got wrong for the same query outweighs search (the last equals the first); distant neighbours
 * alone do not. A first hit that stands alone is surer than one among equals; where all are equal, places decide.
 */
const PRIOR = [8, 4, 0.5, 2, 2, 8] as const;
/** Newer uses weigh more: a use counts half after about a hundred others. */
const RATE = 0.5;
/** Pulls weights back to the prior where uses say nothing. */
const PULL = 0.01;
const LEAST_SHARE_WEIGHT = 1;

/**
 * Learns how far past use is to be trusted beside search: a conditional logit over the entries that a use had to
 * choose from, corrected after every use. Where queries repeat, weights of past use grow; where they do not, they
 * fall to zero.
 */
export class ChoiceModel {
  private readonly weights: number[] = [...PRIOR];

  /** Log-odds of a candidate against others. Evidence never lowers a candidate. */
  score(candidate: Candidate): number {
    return dot(this.weights, featuresOf(candidate));
  }

  /** Search's share with what past use adds to it, as a share of search's best score. */
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
      const pulled = PULL * (PRIOR[at]! - this.weights[at]!);
      const least = at === 0 ? LEAST_SHARE_WEIGHT : 0;
      this.weights[at] = Math.max(least, this.weights[at]! + RATE * (value - expected + pulled));
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
