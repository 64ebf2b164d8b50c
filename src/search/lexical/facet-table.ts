import type { SearchDocument } from "../port/search-index.ts";
import type { Facet } from "./segment.ts";

/** Numbers the distinct facets of documents. */
export class FacetTable {
  readonly facets: Facet[] = [];
  private readonly numbers = new Map<string, number>();

  intern(document: Pick<SearchDocument, "domain" | "kind" | "category" | "tags" | "scopes">): number {
    const { domain, kind, category = "" } = document;
    const tags = distinct(document.tags);
    const scopes = distinct(document.scopes);
    const key = JSON.stringify([domain, kind, category, tags, scopes]);
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.numbers.set(key, this.facets.length);
    this.facets.push({ domain, kind, category, tags, scopes });
    return this.facets.length - 1;
  }
}

function distinct(words: readonly string[]): readonly string[] {
  return words.length < 2 ? words : [...new Set(words)].sort();
}
