import type { Kind, Visibility } from "../schema/entry.ts";

/** One entry, as search sees it. */
export interface SearchDocument {
  /** The entry's route. */
  readonly id: string;
  readonly kind: Kind;
  readonly domain: string;
  readonly visibility: Visibility;
  readonly scopes: readonly string[];
  readonly category?: string;
  readonly tags: readonly string[];
  readonly name: string;
  /** Op, aliases and phrases. */
  readonly aliases: readonly string[];
  readonly description: string;
  /** Parameter names, their descriptions and enum values. */
  readonly parameters: string;
  readonly domainText: string;
  readonly content: string;
}

export interface SearchFilter {
  /** The caller's scopes: a document is found only if all of its own are among them. */
  readonly scopes: readonly string[];
  readonly domain?: string;
  readonly kinds?: readonly Kind[];
  readonly categories?: readonly string[];
  /** Every one of these tags. */
  readonly tags?: readonly string[];
}

export interface SearchRequest {
  readonly query: string;
  readonly limit: number;
  readonly filter: SearchFilter;
}

export interface SearchHit {
  readonly id: string;
  readonly score: number;
}

/**
 * What finds documents by words. Hidden documents are never found. Hits come best first, ties by id.
 * `keyhole/testing` publishes the behaviours that every implementation shows.
 */
export interface SearchIndex {
  /** Adds documents, replacing those with the same id. */
  put(documents: readonly SearchDocument[]): Promise<void>;
  drop(ids: readonly string[]): Promise<void>;
  search(request: SearchRequest): Promise<readonly SearchHit[]>;
  close(): Promise<void>;
}
