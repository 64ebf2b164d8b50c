import type { Json } from "../util/json.ts";
import type { GuidanceStep } from "./guidance-steps.ts";

/** The outcome of running one entry. */
export interface EntryRun {
  /** The whole result. */
  readonly value: Json;
  readonly guidance: readonly GuidanceStep[];
  readonly warnings: readonly string[];
  /** The tokens that the entry asks to be shown, beyond the usual ones. */
  readonly showUpTo?: number;
}
