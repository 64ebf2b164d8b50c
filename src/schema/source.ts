import type { Domain, EntryDraft } from "./entry.ts";

/** Everything a source has at one time. */
export interface SourceContent {
  readonly domains: readonly Domain[];
  readonly drafts: readonly EntryDraft[];
  /** One sentence for each error, which says where to look. */
  readonly errors?: readonly string[];
  /** One sentence for each thing that was left out or kept as it was. The rest is usable. */
  readonly warnings?: readonly string[];
}

/** Yields entries as drafts. It never touches the catalog. */
export interface Source {
  readonly id: string;
  /** Hash of its options. A source with the same id and digest is left running. */
  readonly digest?: string;
  /** Yields everything it has, at once and after each change, until the signal aborts. */
  contents(signal: AbortSignal): AsyncIterable<SourceContent>;
  /**
   * Reads everything again; with `anew`, also what has not changed. Resolves once the new content was yielded
   * and taken. A failure leaves the old content.
   */
  refresh?(signal: AbortSignal, anew?: boolean): Promise<void>;
  freshness?(): Freshness;
}

/** The age of a source's content. Times are milliseconds since 1970. */
export interface Freshness {
  /** The number of documents, or of entries for a source without documents. */
  readonly count: number;
  /** When the least and the most recently read document was last known to be up to date. */
  readonly oldest?: number;
  readonly newest?: number;
  /** How long content counts as fresh. Absent: it is never out of date. */
  readonly ttlMs?: number;
  readonly isFresh: boolean;
  /** Why the last reading failed. */
  readonly lastError?: string;
}
