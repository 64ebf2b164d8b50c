/** The kinds of entry. */
export const KINDS = ["tool", "resource", "skill", "prompt"] as const;
/** The kind of an entry. See {@link KINDS}. */
export type Kind = (typeof KINDS)[number];

/** `entry`: shown by `ask` for its domain always. `listed`: found by search. `hidden`: unveiled by guidance. */
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
  /** Op and aliases. */
  readonly aliases: readonly string[];
  readonly description: string;
  /** Parameter names, their descriptions and enum values; authors' phrases, whose likeness to a query counts apart. */
  readonly parameters: string;
  readonly domainText: string;
  readonly content: string;
  /** Facts that the source gives, for engines that filter and sort by them. */
  readonly facts?: DocumentFacts;
  /** Factors on the engine's own field weights, such as a domain's `searchConfig` asks for; 0 leaves a field out. */
  readonly weights?: Readonly<Partial<Record<SearchField, number>>>;
}

export interface DocumentFacts {
  readonly resource_type?: string;
  readonly path_segment?: string;
  readonly quality_score?: number;
  readonly source_id?: string;
  /** In milliseconds of the epoch. */
  readonly indexed_at?: number;
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

/** A search of a {@link SearchIndex}. */
export interface SearchRequest {
  readonly query: string;
  readonly limit: number;
  readonly filter: SearchFilter;
  /** Asks for `explanation` on each hit; an engine that cannot explain leaves it out. */
  readonly explain?: boolean;
  /** Called with how the search was answered, by engines that can say so. Must not throw. */
  readonly note?: (how: SearchNote) => void;
}

/** How a search was answered. */
export interface SearchNote {
  /** The ranking that decided: words, vectors, or a blend of both. */
  readonly by: "words" | "vectors" | "both";
  readonly wordsMs: number;
  /** Absent where vectors took no part. */
  readonly vectorsMs?: number;
  /** Documents that wait for their vectors; absent unless vectors took no part for that reason. */
  readonly waiting?: number;
  /** Whether the query asks to destroy something; absent if its language is not read. */
  readonly asksToDestroy?: boolean;
}

/** An entry that a search found. */
export interface SearchHit {
  readonly id: string;
  readonly score: number;
  readonly explanation?: Explanation;
}

/** Why a document was found: scores before they are put together, comparable within one answer only. */
export interface Explanation {
  readonly lexical: number;
  /** How near by vectors, the nearest being 1; absent where vectors took no part. */
  readonly vector?: number;
  /** How far past use and authors' phrases raised it, in shares of the best score; absent where they did not. */
  readonly learned?: number;
  /** The query names this document. */
  readonly exactName: boolean;
  readonly fields: Readonly<Partial<Record<SearchField, number>>>;
  readonly terms: readonly TermScore[];
}

export interface TermScore {
  readonly term: string;
  readonly score: number;
  readonly fields: readonly SearchField[];
}

/** How an engine searches now, and how much of the catalog it finds. */
export interface SearchStatus {
  /** The way of searching now: `lexical` also while vectors are being made. */
  readonly mode: "lexical" | "hybrid";
  /** Documents that can be found, where the engine counts them. */
  readonly documents?: number;
  /** Documents that wait for their vectors. */
  readonly waiting?: number;
  /** Why vectors are missing. */
  readonly reason?: string;
}

/**
 * A search engine. It never finds hidden documents. Hits come best first, ties by id.
 * `keyhole/testing` publishes the behaviours that every implementation shows.
 */
export interface SearchIndex {
  /** Adds documents, replacing those with the same id. */
  put(documents: readonly SearchDocument[]): Promise<void>;
  drop(ids: readonly string[]): Promise<void>;
  search(request: SearchRequest): Promise<readonly SearchHit[]>;
  /** Drops its whole store and makes it anew, for a rebuild. Without it, a rebuild only puts every document again. */
  reset?(): Promise<void>;
  /** Resolves when searches give their final answers, or only vectors that take long are missing. */
  ready?(): Promise<void>;
  /** How it searches now; an engine that has only one way may leave it out. */
  status?(): SearchStatus | Promise<SearchStatus>;
  /** Takes up the snapshot that was kept, in the place of what it holds, and gives its note; or says why not. */
  restore?(): Promise<{ readonly note?: string; readonly reason?: string }>;
  /** Keeps a snapshot of what it holds, with a note of the caller's. */
  keep?(note: string): Promise<void>;
  close(): Promise<void>;
}
