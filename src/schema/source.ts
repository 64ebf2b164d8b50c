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
  /** Yields all it has, as soon as it knows and again whenever that changes, until the signal is raised. */
  contents(signal: AbortSignal): AsyncIterable<SourceContent>;
}
