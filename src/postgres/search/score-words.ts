import { fromStoredText } from "../../core/storage/postgres-client.ts";
import { type PostingList, Scratch, scoreSegment } from "../../search/lexical/score-segment.ts";
import { indexIn } from "../../search/lexical/segment.ts";
import type { WeighedTerm } from "../../search/lexical/weigh-query.ts";
import type { SearchFilter } from "../../search/port/search-index.ts";
import { bestFirst, type Scored, seenShare } from "../../search/ranking/fusion.ts";
import { CONTENT_ONLY, FULL_IMPACT } from "../../search/ranking/tuning.ts";
import type { CallerDictionary } from "./ask-dictionary.ts";
import { filterSql } from "./filter-sql.ts";
import { type PostgresClient, queryRows } from "./postgres-client.ts";
import type { TermPostings } from "./posting-blocks.ts";
import type { TableNames } from "./table-names.ts";

const scratch = new Scratch();

interface ScoredNumber {
  readonly document: number;
  readonly score: number;
}

/** A hit with the number of its document. */
export interface WordHit extends Scored {
  readonly document: number;
}

/**
 * Finds the best documents for the terms of a query, best first, ties by id. Postings are scored as
 * in the embedded engine. The server filters: of all documents only if the best few are not enough.
 */
export async function scoreWords(
  client: PostgresClient,
  names: TableNames,
  terms: readonly WeighedTerm[],
  filter: SearchFilter,
  limit: number,
  { seesAll, postings }: CallerDictionary,
): Promise<WordHit[]> {
  if (terms.length === 0) return [];
  const { domain, kinds, categories, tags } = filter;
  const isOpen = seesAll && [domain, kinds, categories, tags].every((part) => part === undefined);
  const scored = scoreAll(toLists(terms, postings), isOpen ? limit : Number.MAX_SAFE_INTEGER);
  const few = withTies(scored, isOpen ? limit : 2 * limit + 100);
  const hits = await toHits(client, names, few, filter);
  const isWhole = hits.length >= limit || few.length === scored.length;
  return (isWhole ? hits : await toHits(client, names, scored, filter)).slice(0, limit);
}

/** In the embedded engine's order, so that sums are the same to the last bit. */
function toLists(terms: readonly WeighedTerm[], postings: ReadonlyMap<string, TermPostings>): PostingList[] {
  return terms.toSorted(heaviestFirst).flatMap(({ text, weight, name }) => {
    const found = postings.get(text);
    if (found === undefined) return [];
    const { documents, impacts, maxImpact } = found;
    const list = { documents, start: 0, end: documents.length, weight };
    if (name === undefined) return [{ ...list, impacts, maxImpact }];
    const spelt = impacts.map((print) => (print === name.print ? FULL_IMPACT : name.otherwise));
    return [{ ...list, impacts: spelt, maxImpact: FULL_IMPACT }];
  });
}

/** The share of what the best hits matched that their vectors stand for, as in the embedded engine. */
export function seenIn(
  hits: readonly WordHit[],
  terms: readonly WeighedTerm[],
  postings: ReadonlyMap<string, TermPostings>,
): number {
  const numbers = new Map(hits.map(({ id, document }) => [id, document]));
  const asked = terms.toSorted(heaviestFirst).map((term) => ({ ...term, isName: term.name !== undefined }));
  return seenShare(hits, asked, (id) => ({ text, name }) => {
    const list = postings.get(text);
    const at = list ? indexIn(list.documents, 0, list.documents.length, numbers.get(id)!) : -1;
    if (list === undefined || at < 0) return undefined;
    const own = list.impacts[at]!;
    const impact = name === undefined ? own : own === name.print ? FULL_IMPACT : name.otherwise;
    return { share: impact / FULL_IMPACT, fields: list.inBody[at] === 1 ? CONTENT_ONLY : 0 };
  });
}

function heaviestFirst(one: WeighedTerm, other: WeighedTerm): number {
  return other.weight - one.weight || (one.text < other.text ? -1 : 1);
}

/** Scores at least the best `limit` documents and all that tie with them. Best first. */
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
  client: PostgresClient,
  names: TableNames,
  scored: readonly ScoredNumber[],
  filter: SearchFilter,
): Promise<WordHit[]> {
  if (scored.length === 0) return [];
  const { condition, params } = filterSql(filter, 2);
  const rows = await queryRows(
    client,
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
