import { FULL_IMPACT } from "../lexical/fields.ts";
import { type PostingList, Scratch, scoreSegment } from "../lexical/score-segment.ts";
import type { WeighedTerm } from "../lexical/weigh-words.ts";
import type { SearchFilter } from "../port/search-index.ts";
import { fromStoredText } from "../port/stored-text.ts";
import { bestFirst, type Scored } from "../ranking/fusion.ts";
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
): Promise<Scored[]> {
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
  const ordered = terms.toSorted(
    (one, other) => other.weight - one.weight || (one.text < other.text ? -1 : 1),
  );
  return ordered.flatMap(({ text, weight, name }) => {
    const found = postings.get(text);
    if (found === undefined) return [];
    const { documents, impacts, maxImpact } = found;
    const list = { documents, start: 0, end: documents.length, weight };
    if (name === undefined) return [{ ...list, impacts, maxImpact }];
    const spelt = impacts.map((print) => (print === name.print ? FULL_IMPACT : name.otherwise));
    return [{ ...list, impacts: spelt, maxImpact: FULL_IMPACT }];
  });
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
): Promise<Scored[]> {
  if (scored.length === 0) return [];
  const { condition, params } = filterSql(filter, 2);
  const rows = await queryRows(
    client,
    `select d.id, d.number::int from ${names.documents} d where d.number = any($1::bigint[]) and ${condition}`,
    [scored.map(({ document }) => document), ...params],
  );
  const ids = new Map(rows.map(({ id, number }) => [number, fromStoredText(String(id))]));
  const hits = scored.flatMap(({ document, score }): Scored[] => {
    const id = ids.get(document);
    return id === undefined ? [] : [{ id, score }];
  });
  return hits.sort(bestFirst);
}
