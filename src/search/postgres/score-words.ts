import { FULL_IMPACT } from "../lexical/fields.ts";
import type { WeighedTerm } from "../lexical/weigh-words.ts";
import type { SearchFilter } from "../port/search-index.ts";
import { fromStoredText, toStoredText } from "../port/stored-text.ts";
import type { Scored } from "../ranking/fusion.ts";
import { filterSql } from "./filter-sql.ts";
import { type PostgresClient, queryRows } from "./postgres-client.ts";
import type { TableNames } from "./table-names.ts";

/**
 * Scales weights to whole numbers. Doubles add those without loss, so a score does not depend on the order of the
 * sum.
 */
const SCALE = 1_000_000;

/**
 * Finds the best documents for the terms of a query, best first, ties by id. Callers may see most documents, so only
 * the best few are filtered first. All are filtered if that does not fill the list, or if the filter has more than
 * scopes.
 */
export async function scoreWords(
  client: PostgresClient,
  names: TableNames,
  terms: readonly WeighedTerm[],
  filter: SearchFilter,
  limit: number,
): Promise<Scored[]> {
  if (terms.length === 0) return [];
  const { domain, kinds, categories, tags } = filter;
  if (domain === undefined && kinds === undefined && categories === undefined && tags === undefined) {
    const hits = await askScores(client, names, terms, filter, limit, 2 * limit + 100);
    if (hits.length === limit) return hits;
  }
  return askScores(client, names, terms, filter, limit, null);
}

async function askScores(
  client: PostgresClient,
  names: TableNames,
  terms: readonly WeighedTerm[],
  filter: SearchFilter,
  limit: number,
  candidates: number | null,
): Promise<Scored[]> {
  const { condition, params } = filterSql(filter, 6);
  const fewOnly = candidates === null ? "" : `order by score desc fetch first ${candidates} rows with ties`;
  const rows = await queryRows(
    client,
    `with scored as materialized (
       select p.document, sum(w.weight * case
         when w.print = 0 then p.impact when w.print = p.impact then ${FULL_IMPACT} else w.otherwise
       end) as score
       from unnest($1::text[], $2::float8[], $3::int[], $4::int[]) as w(term, weight, print, otherwise)
       join ${names.postings} p on p.term = w.term
       group by p.document ${fewOnly}
     )
     select d.id, s.score from scored s join ${names.documents} d on d.number = s.document
     where ${condition}
     order by s.score desc, d.id limit $5::int`,
    [
      terms.map(({ text }) => toStoredText(text)),
      terms.map(({ weight }) => Math.max(1, Math.round(weight * SCALE))),
      terms.map(({ name }) => name?.print ?? 0),
      terms.map(({ name }) => name?.otherwise ?? 0),
      limit,
      ...params,
    ],
  );
  return rows.map(({ id, score }) => ({
    id: fromStoredText(String(id)),
    score: Number(score) / SCALE / FULL_IMPACT,
  }));
}
