import type { TokenCounter } from "../src/base/tokens/tokens.ts";
import type { LabClient, ScenarioName } from "./lab-client.ts";
import type { Observed } from "./observed.ts";
import type { StepSeen } from "./step-seen.ts";

/** One thing that the lab asserts of every client. A new one is a row of `ASSERTIONS`. */
export interface Assertion {
  readonly name: string;
  /** The question that the fact answers, for people. */
  readonly title: string;
  readonly scenario: ScenarioName;
  check(seen: Seen): Finding;
}

/** One run, as assertions look at it. */
export interface Seen {
  readonly client: LabClient;
  readonly observed: Observed;
  /** How long the silent call lasted. */
  readonly seconds: number;
  step(id: string): StepSeen;
  countTokens: TokenCounter;
}

export interface Finding {
  /** Whether Keyhole is right inside this client. */
  readonly ok: boolean;
  /** One short statement, the same in every run, so that versions can be compared. */
  readonly fact: string;
  /** A figure that differs a little from run to run. */
  readonly value?: number;
  readonly unit?: "tokens" | "s" | "ms";
}

/** One row of the lab's report. */
export interface LabRow extends Finding {
  readonly client: string;
  readonly version: string;
  readonly assertion: string;
}
