import type { ScenarioName } from "./lab-client.ts";

/** One scenario that is to be run. */
export interface Assignment {
  readonly client: string;
  readonly scenario: ScenarioName;
  /** An empty folder for everything that the run writes. */
  readonly folder: string;
  /** The folder into which the client is installed. */
  readonly installed: string;
  /** The folder of the built package. */
  readonly dist: string;
  readonly serveArgs: readonly string[];
  /** How long the silent call lasts. */
  readonly seconds: number;
}

/** One message between client and server, or an event of the server's process. */
export interface TapRecord {
  readonly at: number;
  readonly from?: "client" | "server";
  readonly message?: {
    readonly id?: number | string;
    readonly method?: string;
    readonly params?: Readonly<Record<string, unknown>>;
    readonly result?: Readonly<Record<string, unknown>>;
    readonly error?: { readonly message: string };
  };
  readonly event?: string;
  /** Names of the variables of a process that starts. */
  readonly variables?: readonly string[];
}

/** Everything that was seen of one run. */
export interface Observed {
  /** The exit code of the client; null if it was killed. */
  readonly code: number | null;
  readonly ms: number;
  readonly startedAt: number;
  /** The end of what the client printed. */
  readonly output: string;
  /** Every request to the model. */
  readonly requests: readonly unknown[];
  /** How many tools of the client itself the model called before it saw Keyhole's. */
  readonly reveals: number;
  readonly tap: readonly TapRecord[];
  /** The screens on which a person answered questions. */
  readonly forms: readonly string[];
  /** The quarters whose books were closed, one for each run of the tool. */
  readonly closed: readonly string[];
  /** Command lines of the processes that were still there after the client had left. */
  readonly left: readonly string[];
  /** Those that were still there after the daemon had been stopped. */
  readonly leftAfterStop: readonly string[];
}
