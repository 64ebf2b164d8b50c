import { analyzeQuery, type WordQuery } from "../analysis/analyze-query.ts";
import { splitClauses } from "../analysis/split-needs.ts";
import type { SearchFilter } from "../port/search-index.ts";
import { CLAUSES } from "../ranking/tuning.ts";
import type { LexicalHit, LexicalIndex, Ranking } from "./lexical-index.ts";
import type { TermEntries } from "./weigh-query.ts";

export interface ScoredId {
  readonly id: string;
  readonly score: number;
}

export interface ClauseRanking {
  readonly hits: readonly ScoredId[];
  /** The ranking of the whole query. */
  readonly whole: Ranking;
  readonly clauses: readonly string[];
}

/** Ranks a query and, where it has several sentences, each of them; every sentence keeps a say in the list. */
export function rankClauses(
  index: LexicalIndex,
  { words: query, foreign }: WordQuery,
  filter: SearchFilter,
  limit: number,
): ClauseRanking {
  const clauses = splitClauses(query);
  if (clauses.length < 2) {
    const whole = index.rank(analyzeQuery(query, foreign), filter, limit);
    return { hits: withIds(index, whole.hits), whole, clauses };
  }
  const depth = Math.max(CLAUSES.depth, limit);
  const entries: TermEntries = new Map();
  const rank = (text: string) => index.rank(analyzeQuery(text, foreign), filter, depth, entries);
  const whole = rank(query);
  const rankings = clauses.map(rank);
  return { hits: withIds(index, mergeRankings(whole, rankings)).slice(0, limit), whole, clauses };
}

/** Hits by any key, best first. */
interface Ranked<K> {
  readonly hits: readonly { readonly key: K; readonly score: number }[];
}

/** Blends the ranking of a whole query with those of its clauses. In no order. */
export function mergeRankings<K>(
  whole: Ranked<K>,
  rankings: readonly Ranked<K>[],
): { readonly key: K; readonly score: number }[] {
  const scores = new Map<K, number>();
  const best = bestOf(whole);
  if (best === 0) return [];
  for (const { key, score } of whole.hits) scores.set(key, CLAUSES.wholeWorth * (score / best));
  const strongest = Math.max(...rankings.map(bestOf));
  for (const ranking of rankings) {
    const own = bestOf(ranking);
    if (own === 0) continue;
    const strength = (own / strongest) ** CLAUSES.strengthExponent;
    for (const { key, score } of ranking.hits) {
      scores.set(key, (scores.get(key) ?? 0) + strength * (score / own) ** CLAUSES.sharpness);
    }
  }
  return Array.from(scores, ([key, score]) => ({ key, score: score * best }));
}

function bestOf(ranking: Ranked<unknown>): number {
  return ranking.hits[0]?.score ?? 0;
}

function withIds(index: LexicalIndex, hits: readonly LexicalHit[]): ScoredId[] {
  const named = hits.map(({ key, score }) => ({ id: index.idOf(key), score }));
  return named.sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1));
}
