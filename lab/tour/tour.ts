import type { TapRecord } from "../observed.ts";
import type { Move } from "./model.ts";
import type { Size } from "./servers.ts";

/** `direct`: the servers in the client's own config. `keyhole`: connected and approved as a person does it. */
export const WAYS = ["direct", "keyhole"] as const;
/** `native`: the same with `connect --surface native`, for a client that hides tools by itself. */
export type Way = (typeof WAYS)[number] | "native";

export interface TourAssignment {
  readonly client: string;
  readonly way: Way;
  readonly size: Size;
  /** An empty folder for everything that the tour writes. */
  readonly folder: string;
  /** The folder into which the client is installed. */
  readonly installed: string;
  /** The folder of the built package. */
  readonly dist: string;
  readonly serveArgs: readonly string[];
}

/** Everything that was seen of one tour. */
export interface TourObserved {
  /** The exit code of the client; null if it was killed. */
  readonly code: number | null;
  /** The end of what the client printed. */
  readonly output: string;
  /** Every request to the model. */
  readonly requests: readonly unknown[];
  readonly moves: readonly Move[];
  /** Outcomes for which the model found no tool. */
  readonly lost: readonly string[];
  /** The messages of each server. */
  readonly taps: Readonly<Record<string, readonly TapRecord[]>>;
  /** When the client was started. */
  readonly startedAt: number;
  /** Whether Keyhole refuses a tool that the client's config denies; undefined if it denies none. */
  readonly denies?: boolean | undefined;
  /** The variables of the client's environment that a server may see. */
  readonly variables: readonly string[];
}
