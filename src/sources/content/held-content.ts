import type { RawContent } from "../../schema/pipeline.ts";

/** The documents of a pipeline, from one complete read. */
export interface HeldContent {
  /** When the read ended, in milliseconds since 1970. */
  readonly readAt: number;
  readonly documents: readonly HeldDocument[];
}

export interface HeldDocument {
  readonly raw: RawContent;
  /** When this version was first read. */
  readonly indexedAt: number;
  /** When it was last checked. */
  readonly seenAt: number;
}
