import { analyzeQuery, type WordQuery } from "../analysis/analyze-query.ts";
import { queryParts } from "../analysis/split-needs.ts";
import type { SearchFilter } from "../port/search-index.ts";
import { bestFirst, type Scored } from "../ranking/fusion.ts";
import { CLAUSES } from "../ranking/tuning.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import type { Weighing } from "./weigh-query.ts";

export interface ClauseRanking {
  /** Best first, ties by id. */
  readonly hits: readonly Scored[];
  /** The terms of the whole query. */
  readonly whole: Weighing;
}

/** Ranks a query and each of its sentences, if it has several; every sentence influences the result. */
export function rankClauses(
  index: LexicalIndex,
  { words: query, foreign }: WordQuery,
  filter: SearchFilter,
  limit: number,
): ClauseRanking {
  const parts = queryParts(query);
  const depth = parts.length === 1 ? limit : Math.max(CLAUSES.depth, limit);
  const rankings = parts.map((part) => index.rank(analyzeQuery(part, foreign), filter, depth));
  return { hits: mergeRankings(rankings.map(({ hits }) => hits)).slice(0, limit), whole: rankings[0]! };
}

/** Blends the hits of a whole query, which come first, with those of its clauses. Best first. */
export function mergeRankings([whole, ...clauses]: readonly (readonly Scored[])[]): readonly Scored[] {
  if (clauses.length === 0) return whole!;
  const scores = new Map<string, number>();
  const best = bestOf(whole!);
  if (best === 0) return [];
  for (const { id, score } of whole!) scores.set(id, CLAUSES.wholeWorth * (score / best));
  const strongest = Math.max(...clauses.map(bestOf));
  for (const hits of clauses) {
    const bestOfClause = bestOf(hits);
    if (bestOfClause === 0) continue;
    const strength = (bestOfClause / strongest) ** CLAUSES.strengthExponent;
    for (const { id, score } of hits) {
      scores.set(id, (scores.get(id) ?? 0) + strength * (score / bestOfClause) ** CLAUSES.sharpness);
    }
  }
  return Array.from(scores, ([id, score]) => ({ id, score: score * best })).sort(bestFirst);
}

function bestOf(hits: readonly Scored[]): number {
  return hits[0]?.score ?? 0;
}
