import type { Miss, Script, ScriptEnd } from "./messages.ts";

/** A request of a running script: a call, a search, a pause. Its fields are untrusted. */
export interface ScriptRequest {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The answer to a request. Results that carry a label are watched for fields that they do not have. */
export interface ScriptAnswer {
  readonly ok: boolean;
  readonly value: unknown;
  readonly label?: string;
}

/** Serves a running script. Requests are numbered from one in the order in which the script makes them. */
export interface ScriptHost {
  request(request: ScriptRequest, number: number, answer: (answer: ScriptAnswer) => void): void;
}

export interface ScriptOutcome {
  readonly end: ScriptEnd;
  readonly logs: readonly string[];
  readonly misses: readonly Miss[];
}

export interface ScriptOptions {
  /** Ends the script. */
  readonly signal: AbortSignal;
  /** One owner never takes every thread. */
  readonly owner: string;
}

/** Runs scripts that nobody trusts: nothing of the process can be reached but the host. */
export interface Sandbox {
  run(script: Script, host: ScriptHost, options: ScriptOptions): Promise<ScriptOutcome>;
  /** Ends all scripts and threads. */
  close(): Promise<void>;
}

export type { Script, ScriptEnd, ScriptLimits, StopReason } from "./messages.ts";
