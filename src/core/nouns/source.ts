import type { Domain, EntryDraft, LazyDraft } from "./entry.ts";

/** All content of a source at one time. */
export interface SourceContent {
  readonly domains: readonly Domain[];
  readonly drafts: readonly EntryDraft[];
  /** Further tools, whose definitions are read on demand. */
  readonly lazyDrafts?: readonly LazyDraft[];
  /** Reasons to refuse this content: one sentence each, with the location. */
  readonly errors?: readonly string[];
  /** Parts that were left out or left unchanged: one sentence each, for the owner. */
  readonly warnings?: readonly string[];
  /** Whether this is a placeholder for a server that is still starting. */
  readonly isStarting?: boolean;
}

export function countDrafts({ drafts, lazyDrafts = [] }: SourceContent): number {
  return drafts.length + lazyDrafts.length;
}

/** A source of entries. It yields content and never touches the catalog. */
export interface Source {
  readonly id: string;
  /** Scopes needed for all its entries. Callers without them do not learn that it exists. */
  readonly scopes?: readonly string[];
  /** Hash of its options. A source with the same id and digest does not replace the running one. */
  readonly digest?: string;
  /** Whether it soon delivers local files, so that the first list of tools waits for it briefly. */
  readonly isSoon?: boolean;
  /**
   * Yields all content as soon as it is known and after each change, until the signal aborts. Calls `onFailed` when a
   * read fails that no caller requested; without it, the iteration ends with the error.
   */
  contents(signal: AbortSignal, onFailed?: (error: unknown) => void): AsyncIterable<SourceContent>;
  /**
   * Reads everything again; with `force` also content that appears unchanged. Resolves when the new content was yielded
   * and is in use. Rejects if the read fails; the earlier content stays.
   */
  refresh?(signal: AbortSignal, force?: boolean): Promise<void>;
  freshness?(): Freshness;
}

/**
 * `unknown`: has not delivered yet. `kept`: content of an earlier start. `waiting`: for a person's approval or login.
 */
export type SourceState = "unknown" | "kept" | "starting" | "listed" | "failed" | "waiting";

/** The age of a source's content, in milliseconds since 1970. */
export interface Freshness {
  readonly state?: SourceState;
  /** Number of documents, or of entries for a source without documents. */
  readonly count: number;
  /** Times of the oldest and newest check of a document. */
  readonly oldest?: number;
  readonly newest?: number;
  /** How long content stays fresh. Undefined: forever. */
  readonly ttlMs?: number;
  readonly isFresh: boolean;
  /** Reason of the last failed read. */
  readonly lastError?: string;
}
