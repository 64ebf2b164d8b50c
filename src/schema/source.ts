import type { Domain, EntryDraft } from "./entry.ts";

/** Everything a source has at one time. */
export interface SourceContent {
  readonly domains: readonly Domain[];
  readonly drafts: readonly EntryDraft[];
  /** What is wrong with it, one sentence each, saying where to look. */
  readonly errors?: readonly string[];
  /** What was left out or kept as it was, one sentence each: for the owner to know, no reason to refuse the rest. */
  readonly warnings?: readonly string[];
}

/** Where entries come from. It yields what it has and never touches the catalog. */
export interface Source {
  readonly id: string;
  /** What it was made of: a source of the same id and digest is the same one, and is left running. */
  readonly digest?: string;
  /** Yields all it has, as soon as it knows and again whenever that changes, until the signal is raised. */
  contents(signal: AbortSignal): AsyncIterable<SourceContent>;
  /**
   * Reads all of it again from where it comes, with `anew` also what has not changed since. Resolves when what
   * it found was yielded and taken; a failure leaves what it had.
   */
  refresh?(signal: AbortSignal, anew?: boolean): Promise<void>;
  freshness?(): Freshness;
}

/** How old what a source has is. Times are milliseconds since 1970. */
export interface Freshness {
  /** Documents, or entries where it has no documents. */
  readonly count: number;
  /** When the document that was read first, and the one that was read last, was known to be as it is. */
  readonly oldest?: number;
  readonly newest?: number;
  /** How long that counts as fresh; without it, it is never out of date. */
  readonly ttlMs?: number;
  readonly isFresh: boolean;
  /** Why it could not be read the last time. */
  readonly lastError?: string;
}
