/** The kinds of entry. */
export const KINDS = ["tool", "resource", "skill", "prompt"] as const;
/** The kind of an entry. See {@link KINDS}. */
export type Kind = (typeof KINDS)[number];

/** `entry`: `ask` always shows it for its domain. `listed`: search finds it. `hidden`: only guidance reveals it. */
export type Visibility = "entry" | "listed" | "hidden";

export const SEARCH_FIELDS = [
  "name",
  "aliases",
  "description",
  "parameters",
  "domainText",
  "content",
] as const;
export type SearchField = (typeof SEARCH_FIELDS)[number];

/** The document of one entry. */
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
  /** Op and aliases. */
  readonly aliases: readonly string[];
  readonly description: string;
  /** Names, descriptions and enum values of parameters, and authors' phrases (also scored separately). */
  readonly parameters: string;
  readonly domainText: string;
  readonly content: string;
  /** Facts from the source, for engines that filter and sort by them. */
  readonly facts?: DocumentFacts;
  /** Factors for the engine's own field weights, as from a domain's `searchConfig`; 0 excludes a field. */
  readonly weights?: Readonly<Partial<Record<SearchField, number>>>;
}

export interface DocumentFacts {
  readonly resource_type?: string;
  readonly path_segment?: string;
  readonly quality_score?: number;
  readonly source_id?: string;
  /** In milliseconds since 1970. */
  readonly indexed_at?: number;
}

export interface SearchFilter {
  /** The caller's scopes. They must include all scopes of a document. */
  readonly scopes: readonly string[];
  readonly domain?: string;
  readonly kinds?: readonly Kind[];
  readonly categories?: readonly string[];
  /** Required tags. */
  readonly tags?: readonly string[];
}

/** A search of a {@link SearchIndex}. */
export interface SearchRequest {
  readonly query: string;
  readonly limit: number;
  readonly filter: SearchFilter;
  /** Whether to return an `explanation` for each hit, if the engine can explain. */
  readonly explain?: boolean;
  /** Called with how the search was answered, if the engine reports it. Must not throw. */
  readonly note?: (how: SearchNote) => void;
}

/** How a search was answered. */
export interface SearchNote {
  /** The ranking that decided: words, vectors, or both. */
  readonly by: "words" | "vectors" | "both";
  readonly wordsMs: number;
  /** Absent if vectors took no part. */
  readonly vectorsMs?: number;
  /** Documents without vectors yet. Set only if vectors took no part for that reason. */
  readonly waiting?: number;
  /** Whether the query asks to destroy something. Absent if its language is unknown. */
  readonly asksToDestroy?: boolean;
}

/** An entry that a search found. */
export interface SearchHit {
  readonly id: string;
  readonly score: number;
  readonly explanation?: Explanation;
}

/** Why a document was found: scores before they are combined, comparable only within one answer. */
export interface Explanation {
  readonly lexical: number;
  /** Similarity by vectors relative to the nearest; absent if vectors took no part. */
  readonly vector?: number;
  /** How far past use and authors' phrases raised it, in shares of the best score; absent if they did not. */
  readonly learned?: number;
  /** Whether the query names this document. */
  readonly exactName: boolean;
  readonly fields: Readonly<Partial<Record<SearchField, number>>>;
  readonly terms: readonly TermScore[];
}

export interface TermScore {
  readonly term: string;
  readonly score: number;
  readonly fields: readonly SearchField[];
}

/** How an engine searches at present, and how much of the catalog it finds. */
export interface SearchStatus {
  /** The present kind of search: also `lexical` while vectors are being created. */
  readonly mode: "lexical" | "hybrid";
  /** Number of searchable documents, if the engine counts them. */
  readonly documents?: number;
  /** Number of documents without vectors yet. */
  readonly waiting?: number;
  /** Why vectors are missing. */
  readonly reason?: string;
}

/**
 * A search engine. It never finds hidden documents. Hits are sorted best first, ties by id. `keyhole/testing` publishes
 * the behaviours that every implementation must have.
 */
export interface SearchIndex {
  /** Adds documents, or replaces those with the same id. */
  put(documents: readonly SearchDocument[]): Promise<void>;
  drop(ids: readonly string[]): Promise<void>;
  search(request: SearchRequest): Promise<readonly SearchHit[]>;
  /** Empties the whole store for a rebuild. Without it, a rebuild only puts every document again. */
  reset?(): Promise<void>;
  /** Resolves when searches give final answers, or only slow vectors are missing. */
  ready?(): Promise<void>;
  /** The present kind of search. Optional for an engine with only one. */
  status?(): SearchStatus | Promise<SearchStatus>;
  /** Replaces its content by the stored snapshot and returns the note of that, or the reason why it cannot. */
  restore?(): Promise<{ readonly note?: string; readonly reason?: string }>;
  /** Stores a snapshot of its content, with a note of the caller. */
  keep?(note: string): Promise<void>;
  close(): Promise<void>;
}
