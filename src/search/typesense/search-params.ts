import { analyzeQuery, cutQuery } from "../analysis/analyze-query.ts";
import type { SearchFilter } from "../port/search-index.ts";
import { toStoredText } from "../port/stored-text.ts";
import { toFilterValue, WORD_FIELDS } from "./resource-document.ts";

/** The most hits that the engine returns on a page. */
export const MAX_PER_PAGE = 250;

const MAX_TERMS = 32;
const NAME_WEIGHT = 10;

/** Turns a query into the words that the engine gets. Empty if it has none. */
export function queryText(query: string): string {
  const terms = [...analyzeQuery(cutQuery(query)).terms.keys()];
  return terms.slice(0, MAX_TERMS).map(toStoredText).join(" ");
}

/** One page of a search. */
export function searchParams(
  collection: string,
  words: string,
  filter: SearchFilter,
  page: { readonly number: number; readonly size: number },
): Record<string, unknown> {
  return {
    collection,
    q: words,
    query_by: ["name_keys", ...WORD_FIELDS.map(({ name }) => name)].join(","),
    query_by_weights: [NAME_WEIGHT, ...WORD_FIELDS.map(({ weight }) => weight)].join(","),
    filter_by: filterBy(filter),
    sort_by: "_text_match:desc,uri:asc",
    // The engine drops words one by one until it has enough hits, so any word can match.
    drop_tokens_threshold: MAX_PER_PAGE,
    typo_tokens_threshold: 1,
    include_fields: "uri,name,domain,scopes,kind,category,tags",
    highlight_fields: "none",
    page: page.number,
    per_page: page.size,
  };
}

/**
 * Builds the engine's filter. It passes documents with any one of the caller's scopes, and the engine may take two
 * values for equal, so the index checks every hit again.
 */
export function filterBy(filter: SearchFilter): string {
  const parts = [scopesBy(filter.scopes)];
  if (filter.domain !== undefined) parts.push(`domain:=${quoted(filter.domain)}`);
  if (filter.kinds !== undefined) parts.push(`kind:=${listed(filter.kinds)}`);
  if (filter.categories !== undefined) parts.push(`category:=${listed(filter.categories)}`);
  for (const tag of filter.tags ?? []) parts.push(`tags:=${quoted(tag)}`);
  return parts.join(" && ");
}

function scopesBy(scopes: readonly string[]): string {
  if (scopes.length === 0) return "is_unrestricted:=true";
  return `(is_unrestricted:=true || scopes:=${listed(scopes)})`;
}

function listed(values: readonly string[]): string {
  return `[${values.map(quoted).join(",")}]`;
}

function quoted(value: string): string {
  return `\`${toFilterValue(value)}\``;
}
