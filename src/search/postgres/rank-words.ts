import { analyzeQuery } from "../analysis/analyze-query.ts";
import { splitClauses } from "../analysis/split-clauses.ts";
import { CLAUSE_DEPTH, mergeRankings } from "../lexical/rank-clauses.ts";
import { weighWords } from "../lexical/weigh-words.ts";
import type { SearchFilter } from "../port/search-index.ts";
import { bestFirst, type Scored } from "../ranking/fusion.ts";
import { askDictionary } from "./ask-dictionary.ts";
import type { PostgresClient } from "./postgres-client.ts";
import { scoreWords } from "./score-words.ts";
import type { TableNames } from "./table-names.ts";

export interface WordRanking {
  /** Best first, ties by id. */
  readonly hits: readonly Scored[];
  /** True if the query names a document unmistakably. */
  readonly sureName: boolean;
}

/** Ranks a query of `cutQuery` like the embedded engine. */
export async function rankWords(
  client: PostgresClient,
  names: TableNames,
  query: string,
  filter: SearchFilter,
  limit: number,
): Promise<WordRanking> {
  const clauses = splitClauses(query);
  const parts = (clauses.length < 2 ? [query] : [query, ...clauses]).map(analyzeQuery);
  const dictionary = await askDictionary(client, names, parts, filter.scopes);
  const weighed = parts.map((words) => weighWords(words, dictionary));
  const depth = parts.length === 1 ? limit : Math.max(CLAUSE_DEPTH, limit);
  const lists = await Promise.all(
    weighed.map(({ terms }) => scoreWords(client, names, terms, filter, depth, dictionary)),
  );
  const { sureName } = weighed[0]!;
  if (lists.length === 1) return { hits: lists[0]!, sureName };
  const [whole, ...others] = lists.map((list) => ({
    hits: list.map(({ id, score }) => ({ key: id, score })),
  }));
  const merged = mergeRankings(whole!, others).map(({ key, score }) => ({ id: key, score }));
  return { hits: merged.sort(bestFirst).slice(0, limit), sureName };
}
