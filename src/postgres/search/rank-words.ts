import { analyzeQuery, type WordQuery } from "../../search/analysis/analyze-query.ts";
import { splitClauses } from "../../search/analysis/split-needs.ts";
import { mergeRankings } from "../../search/lexical/rank-clauses.ts";
import { weighWords } from "../../search/lexical/weigh-query.ts";
import type { SearchFilter } from "../../search/port/search-index.ts";
import { bestFirst, type Scored } from "../../search/ranking/fusion.ts";
import { CLAUSES } from "../../search/ranking/tuning.ts";
import { askDictionary } from "./ask-dictionary.ts";
import type { PostgresClient } from "./postgres-client.ts";
import { scoreWords, seenIn, type WordHit } from "./score-words.ts";
import type { TableNames } from "./table-names.ts";

export interface WordRanking {
  /** Best first, ties by id. */
  readonly hits: readonly Scored[];
  /** True if the query names a document unmistakably. */
  readonly sureName: boolean;
  /** How much of what the best hits matched their vectors stand for. */
  readonly seen: number;
}

/** Ranks a query like the embedded engine. */
export async function rankWords(
  client: PostgresClient,
  names: TableNames,
  { words: query, foreign }: WordQuery,
  filter: SearchFilter,
  limit: number,
): Promise<WordRanking> {
  const clauses = splitClauses(query);
  const parts = (clauses.length < 2 ? [query] : [query, ...clauses]).map((part) =>
    analyzeQuery(part, foreign),
  );
  const dictionary = await askDictionary(client, names, parts, filter.scopes);
  const weighed = parts.map((words) => weighWords(words, dictionary));
  const depth = parts.length === 1 ? limit : Math.max(CLAUSES.depth, limit);
  const lists = await Promise.all(
    weighed.map(({ terms }) => scoreWords(client, names, terms, filter, depth, dictionary)),
  );
  const { sureName, terms } = weighed[0]!;
  const hits = lists.length === 1 ? lists[0]! : merged(lists).slice(0, limit);
  return { hits, sureName, seen: seenIn(hits, terms, dictionary.postings) };
}

/** Blends the hits of a whole query, which come first, with those of its clauses. Best first. */
function merged(lists: readonly (readonly WordHit[])[]): WordHit[] {
  const ids = new Map(lists.flat().map(({ document, id }) => [document, id]));
  const [whole, ...others] = lists.map((list) => ({
    hits: list.map(({ document, score }) => ({ key: document, score })),
  }));
  const hits = mergeRankings(whole!, others).map(({ key, score }) => ({
    id: ids.get(key)!,
    document: key,
    score,
  }));
  return hits.sort(bestFirst);
}
