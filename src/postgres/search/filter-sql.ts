import { toStoredText } from "../../core/storage/postgres-client.ts";
import type { SearchFilter } from "../../search/port/search-index.ts";

/** Turns a filter into a condition on the documents' table, called `d`. Every value is a param, numbered from `first`. */
export function filterSql(filter: SearchFilter, first: number): { condition: string; params: unknown[] } {
  const conditions: string[] = [];
  const params: unknown[] = [];
  const add = (condition: (param: string) => string, value: unknown): void => {
    conditions.push(condition(`$${first + params.length}`));
    params.push(value);
  };
  add((param) => `d.scopes <@ ${param}::text[]`, filter.scopes.map(toStoredText));
  if (filter.domain !== undefined) add((param) => `d.domain = ${param}::text`, toStoredText(filter.domain));
  if (filter.kinds !== undefined) add((param) => `d.kind = any(${param}::text[])`, [...filter.kinds]);
  if (filter.categories !== undefined) {
    add((param) => `d.category = any(${param}::text[])`, filter.categories.map(toStoredText));
  }
  if (filter.tags !== undefined) add((param) => `d.tags @> ${param}::text[]`, filter.tags.map(toStoredText));
  return { condition: conditions.join(" and "), params };
}
