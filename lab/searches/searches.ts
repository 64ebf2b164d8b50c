import type { TourAssignment } from "../tour/tour.ts";
import type { CatalogueSize } from "./catalogue.ts";
import type { SearchMove } from "./model.ts";

export interface SearchAssignment extends Omit<TourAssignment, "size"> {
  /** How many tools the servers have. */
  readonly size: CatalogueSize;
  /** The directory of the public sets. */
  readonly data: string;
}

/** Everything that was seen of the searches of one client. */
export interface SearchObserved {
  /** The exit code of the client; null if it was killed. */
  readonly code: number | null;
  /** The end of what the client printed. */
  readonly output: string;
  /** Every request to the model, but for those of the sub-agent. */
  readonly requests: readonly unknown[];
  readonly agentRequests: readonly unknown[];
  readonly moves: readonly SearchMove[];
}
