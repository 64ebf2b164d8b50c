import type { RawContent } from "../../schema/pipeline.ts";

/** What a pipeline has read. It is whole: what was read in part is never held. */
export interface HeldContent {
  /** When the reading ended, in milliseconds since 1970. */
  readonly readAt: number;
  readonly documents: readonly HeldDocument[];
}

export interface HeldDocument {
  readonly raw: RawContent;
  /** When this content was taken in. */
  readonly indexedAt: number;
  /** When it was last known to be as it is. */
  readonly seenAt: number;
}
