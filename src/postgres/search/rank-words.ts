import { fromStoredText } from "../../core/storage/postgres-client.ts";
import { analyzeQuery, type WordQuery } from "../../search/analysis/analyze-query.ts";
import { queryParts } from "../../search/analysis/split-needs.ts";
import { mergeRankings } from "../../search/lexical/rank-clauses.ts";
import { type PostingList, Scratch, scoreSegment } from "../../search/lexical/score-segment.ts";
import { indexIn } from "../../search/lexical/segment.ts";
import { impactsOf, type WeighedTerm, weighWords } from "../../search/lexical/weigh-query.ts";
import type { SearchFilter } from "../../search/port/search-index.ts";
import { bestFirst, type Scored, seenShare } from "../../search/ranking/fusion.ts";
import { CLAUSES, CONTENT_ONLY, FULL_IMPACT } from "../../search/ranking/tuning.ts";
import { askDictionary, type CallerDictionary } from "./ask-dictionary.ts";
import { filterSql } from "./filter-sql.ts";
import type { IndexTables } from "./index-tables.ts";
import type { TermPostings } from "./posting-blocks.ts";

export interface WordRanking {
  /** Best first, ties by id. */
  readonly hits: readonly Scored[];
  /** True if the query names a document unmistakably. */
  readonly sureName: boolean;
  /** How much of the text that the best hits matched is in their vectors. */
  readonly seen: number;
}

/** Ranks a query like the embedded engine. */
export async function rankWords(
  tables: IndexTables,
  { words: query, foreign }: WordQuery,
  filter: SearchFilter,
  limit: number,
): Promise<WordRanking> {
  const parts = queryParts(query).map((part) => analyzeQuery(part, foreign));
  const dictionary = await askDictionary(tables, parts, filter.scopes);
  const weighed = parts.map((words) => weighWords(words, dictionary));
  const depth = parts.length === 1 ? limit : Math.max(CLAUSES.depth, limit);
  const lists = await Promise.all(
    weighed.map(({ terms }) => scoreWords(tables, terms, filter, depth, dictionary)),
  );
  const { sureName, terms } = weighed[0]!;
  const hits = mergeRankings(lists).slice(0, limit);
  const numbers = new Map(lists.flat().map(({ id, document }) => [id, document]));
  const seen = seenShare(hits, terms, (id) => (term) => {
    const list = listOf(term, dictionary.postings);
    const at = list ? indexIn(list.documents, 0, list.end, numbers.get(id)!) : -1;
    if (list === undefined || at < 0) return undefined;
    return { share: list.impacts[at]! / FULL_IMPACT, fields: list.inBody[at] === 1 ? CONTENT_ONLY : 0 };
  });
  return { hits, sureName, seen };
}

interface ScoredNumber {
  readonly document: number;
  readonly score: number;
}

/** A hit with the number of its document. */
interface WordHit extends Scored {
  readonly document: number;
}

/**
 * Finds the best documents for the terms of a query, best first, ties by id. Scores postings like the embedded engine.
 * The server filters: the best few first, all documents only if those are not enough.
 */
async function scoreWords(
  tables: IndexTables,
  terms: readonly WeighedTerm[],
  filter: SearchFilter,
  limit: number,
  { seesAll, postings }: CallerDictionary,
): Promise<WordHit[]> {
  if (terms.length === 0) return [];
  const { domain, kinds, categories, tags } = filter;
  const isOpen = seesAll && [domain, kinds, categories, tags].every((part) => part === undefined);
  const lists = terms.flatMap((term) => listOf(term, postings) ?? []);
  const scored = scoreAll(lists, isOpen ? limit : Number.MAX_SAFE_INTEGER);
  const few = withTies(scored, isOpen ? limit : 2 * limit + 100);
  const hits = await toHits(tables, few, filter);
  const isWhole = hits.length >= limit || few.length === scored.length;
  return (isWhole ? hits : await toHits(tables, scored, filter)).slice(0, limit);
}

function listOf(
  { text, weight, name }: WeighedTerm,
  postings: ReadonlyMap<string, TermPostings>,
): (PostingList & Pick<TermPostings, "inBody">) | undefined {
  const list = postings.get(text);
  if (list === undefined) return undefined;
  const whole = { ...list, start: 0, end: list.documents.length, weight };
  return name ? { ...whole, impacts: impactsOf(list.impacts, name), maxImpact: FULL_IMPACT } : whole;
}

const scratch = new Scratch();

/** Scores at least the best `limit` documents and all ties. Best first. */
function scoreAll(lists: readonly PostingList[], limit: number): ScoredNumber[] {
  const last = lists.reduce((most, { documents }) => Math.max(most, documents.at(-1) ?? 0), 0);
  scratch.reserve(last + 1);
  const scored: ScoredNumber[] = [];
  scoreSegment(lists, null, limit, scratch, Number.NEGATIVE_INFINITY, (score, document) =>
    scored.push({ document, score }),
  );
  return scored.sort((one, other) => other.score - one.score);
}

function withTies(scored: readonly ScoredNumber[], count: number): readonly ScoredNumber[] {
  const bar = scored[count - 1]?.score ?? 0;
  return scored.filter(({ score }, at) => at < count || score === bar);
}

async function toHits(
  { names, query }: IndexTables,
  scored: readonly ScoredNumber[],
  filter: SearchFilter,
): Promise<WordHit[]> {
  if (scored.length === 0) return [];
  const { condition, params } = filterSql(filter, 2);
  const rows = await query(
    `select d.id, d.number::int from ${names.documents} d where d.number = any($1::bigint[]) and ${condition}`,
    [scored.map(({ document }) => document), ...params],
  );
  const ids = new Map(rows.map(({ id, number }) => [number, fromStoredText(String(id))]));
  const hits = scored.flatMap(({ document, score }): WordHit[] => {
    const id = ids.get(document);
    return id === undefined ? [] : [{ id, score, document }];
  });
  return hits.sort(bestFirst);
}
