/** One call of a conversation. Arguments and results are not kept. */
export interface Step {
  readonly at: number;
  readonly operation: string;
  /** Needs that were searched for. */
  readonly queries: readonly string[];
  /** Addresses that were described or run. */
  readonly targets: readonly string[];
  /** Routes that a search found, best first. */
  readonly found: readonly string[];
  /** Routes that the guidance of an answer named. */
  readonly unveiled: readonly string[];
  readonly dryRun: boolean;
  readonly outcome: string;
  readonly tokens: number;
  readonly latencyMs: number;
  readonly traceId: string;
}
