import type { Domain, EntryDraft, LazyDraft } from "./entry.ts";

/** Everything that a source has at one time. */
export interface SourceContent {
  readonly domains: readonly Domain[];
  readonly drafts: readonly EntryDraft[];
  /** Further tools, whose definitions are read when they are needed. */
  readonly kept?: readonly LazyDraft[];
  /** Reasons to refuse this content. One sentence each, naming the place. */
  readonly errors?: readonly string[];
  /** Parts that were left out or kept as they were. One sentence each, for the owner. */
  readonly warnings?: readonly string[];
  /** Whether it is a placeholder for an origin that is still starting. */
  readonly isStarting?: boolean;
}

export function countDrafts({ drafts, kept = [] }: SourceContent): number {
  return drafts.length + kept.length;
}

/** An origin of entries. It yields its content and never touches the catalog. */
export interface Source {
  readonly id: string;
  /** Scopes that all its entries need: callers without them are not told of it. */
  readonly scopes?: readonly string[];
  /** Hash of its options. A source with the same id and digest does not replace the running one. */
  readonly digest?: string;
  /** Whether it soon delivers files of this machine, so that the first list of tools waits a moment for them. */
  readonly isSoon?: boolean;
  /**
   * Yields everything as soon as it is known and again after each change, until the signal is raised. Calls
   * `onFailed` when a read fails that nobody has requested; without it, the iteration ends with the error.
   */
  contents(signal: AbortSignal, onFailed?: (error: unknown) => void): AsyncIterable<SourceContent>;
  /**
   * Reads everything again; with `force` also what seems unchanged. Resolves when the new content was yielded and
   * taken. Rejects if the read fails; the earlier content stays.
   */
  refresh?(signal: AbortSignal, force?: boolean): Promise<void>;
  freshness?(): Freshness;
}

/** `unknown`: it has delivered nothing. `kept`: from an earlier start. `waiting`: for a person's approval or login. */
export type SourceState = "unknown" | "kept" | "starting" | "listed" | "failed" | "waiting";

/** The age of a source's content. Times are milliseconds since 1970. */
export interface Freshness {
  readonly state?: SourceState;
  /** Number of documents, or of entries if the source has no documents. */
  readonly count: number;
  /** When the oldest and the newest document were checked. */
  readonly oldest?: number;
  readonly newest?: number;
  /** How long content stays fresh. Undefined: forever. */
  readonly ttlMs?: number;
  readonly isFresh: boolean;
  /** Why the last read failed. */
  readonly lastError?: string;
}
