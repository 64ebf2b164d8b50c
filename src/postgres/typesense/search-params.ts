import { toStoredText } from "../../core/storage/postgres-client.ts";
import { analyzeQuery, cutQuery } from "../../search/analysis/analyze-query.ts";
import type { SearchDocument, SearchFilter } from "../../search/port/search-index.ts";
import { toFilterValue, WORD_FIELDS } from "./resource-document.ts";

/** Most hits on a page of the engine. */
export const MAX_PER_PAGE = 250;

const MAX_TERMS = 32;
const NAME_WEIGHT = 10;
/** Largest weight that the engine accepts. */
const MAX_WEIGHT = 127;
const FACTOR_WEIGHT = 100;
/** Most searches in one request to the engine. */
const MAX_PARTS = 50;

export type FieldWeights = NonNullable<SearchDocument["weights"]>;

/** The words of a query for the engine. Empty if it has none. */
export function queryText(query: string): string {
  const terms = [...analyzeQuery(cutQuery(query)).terms.keys()];
  return terms.slice(0, MAX_TERMS).map(toStoredText).join(" ");
}

/** A search of documents with the same weights: of one domain, or of all domains without their own weights. */
export interface SearchPart {
  readonly filter: SearchFilter;
  readonly without?: readonly string[];
  readonly weights?: FieldWeights | undefined;
}

/** Splits a search by the weights of domains, because the engine takes weights with the query. */
export function searchParts(
  filter: SearchFilter,
  weightsOf: ReadonlyMap<string, FieldWeights>,
): readonly SearchPart[] {
  if (filter.domain !== undefined) return [{ filter, weights: weightsOf.get(filter.domain) }];
  const weighted = [...weightsOf].slice(0, MAX_PARTS - 1);
  return [
    { filter, without: weighted.map(([domain]) => domain) },
    ...weighted.map(([domain, weights]) => ({ filter: { ...filter, domain }, weights })),
  ];
}

/** One page of a search. */
export function searchParams(
  collection: string,
  words: string,
  { filter, without = [], weights }: SearchPart,
  page: { readonly number: number; readonly size: number },
): Record<string, unknown> {
  const fields = weighedFields(weights);
  return {
    collection,
    q: words,
    query_by: fields.map(({ name }) => name).join(","),
    query_by_weights: fields.map(({ weight }) => weight).join(","),
    filter_by: filterBy(filter, without),
    sort_by: "_text_match:desc,quality_score:desc,uri:asc",
    // The engine drops words one by one until it has enough hits, so any word can match.
    drop_tokens_threshold: MAX_PER_PAGE,
    typo_tokens_threshold: 1,
    // Otherwise the engine tries only the most common corrections, counted over documents that the caller cannot see.
    exhaustive_search: true,
    include_fields: "uri,name,domain,scopes,kind,category,tags",
    highlight_fields: "none",
    page: page.number,
    per_page: page.size,
  };
}

/**
 * Builds the engine's filter. It passes documents with any of the caller's scopes, and the engine may take two values
 * as equal, so the index checks every hit again.
 */
export function filterBy(filter: SearchFilter, without: readonly string[] = []): string {
  const parts = [scopesBy(filter.scopes)];
  if (filter.domain !== undefined) parts.push(`domain:=${quoted(filter.domain)}`);
  if (without.length > 0) parts.push(`domain:!=${listed(without)}`);
  if (filter.kinds !== undefined) parts.push(`kind:=${listed(filter.kinds)}`);
  if (filter.categories !== undefined) parts.push(`category:=${listed(filter.categories)}`);
  for (const tag of filter.tags ?? []) parts.push(`tags:=${quoted(tag)}`);
  return parts.join(" && ");
}

/** Scales a domain's own weights. Fields without weight are not searched. */
function weighedFields(weights: FieldWeights | undefined): { name: string; weight: number }[] {
  if (weights === undefined) return [{ name: "name_keys", weight: NAME_WEIGHT }, ...WORD_FIELDS];
  const weighed = WORD_FIELDS.map(({ name, field }) => ({ name, weight: toWeight(weights[field] ?? 1) }));
  const named = { name: "name_keys", weight: (weights.name ?? 1) > 0 ? MAX_WEIGHT : 0 };
  return [named, ...weighed].filter(({ weight }) => weight > 0);
}

function toWeight(factor: number): number {
  return factor > 0 ? Math.min(MAX_WEIGHT, Math.max(1, Math.round(factor * FACTOR_WEIGHT))) : 0;
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
