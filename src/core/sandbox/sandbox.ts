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

/** Runs untrusted scripts: they reach nothing of the process but the host. */
export interface Sandbox {
  run(script: Script, host: ScriptHost, options: ScriptOptions): Promise<ScriptOutcome>;
  /** Ends all scripts and threads. */
  close(): Promise<void>;
}

export interface ScriptLimits {
  /** Milliseconds from start to end, waiting included. */
  readonly timeMs: number;
  /** Milliseconds that the script itself may compute. */
  readonly computeMs: number;
  /** The memory of the engine with the script in it. No less than 16 MiB. */
  readonly memoryBytes: number;
  readonly stackBytes: number;
  /** Requests to the host, `sleep` and searches included. */
  readonly requests: number;
  /** Characters of one request, of the returned value, and of all logs. */
  readonly chars: number;
}

/** A script with everything that decides how it runs: the same script with the same answers does the same. */
export interface Script {
  /** Body of an async function, in JavaScript or TypeScript. */
  readonly code: string;
  /** The only time that the script knows. */
  readonly now: number;
  readonly seed: readonly [number, number, number, number];
  /** JSON of the variable `params`. */
  readonly params: string;
  readonly limits: ScriptLimits;
}

/** A value read from a result under a name that the result does not have. */
export interface Miss {
  readonly field: string;
  /** The label that the host gave the result. */
  readonly label: string;
  /** Fields of the object that was read. */
  readonly fields: readonly string[];
}

/** An error that ended a script, as text. */
interface ScriptError {
  readonly name: string;
  readonly message: string;
  /** Line of the script, if known. The engine names the last statement with a call before the error. */
  readonly line?: number;
  /** JSON of the problem, if the error is one that the host gave. */
  readonly problem?: string;
}

/** Why a script was ended before it returned or threw. */
export type StopReason = "time" | "compute" | "memory" | "stuck" | "cancelled" | "crashed";

export type ScriptEnd =
  /** `nothing`: it came to its end without a value. */
  | { readonly end: "returned"; readonly json: string; readonly nothing?: true }
  | { readonly end: "threw"; readonly error: ScriptError }
  | { readonly end: "stopped"; readonly why: StopReason };

/** A text is the answer to a request, as the prelude takes it. A text costs less to send than an object. */
export type ToWorker = StartMessage | string;

export interface StartMessage {
  readonly script: Script;
  readonly state: SharedArrayBuffer;
}

/** A text is the JSON of a request: the first one has the number one, and so on. */
export type FromWorker =
  | string
  | { readonly type: "log"; readonly text: string }
  | { readonly type: "miss"; readonly miss: Miss }
  /** `isSpent`: the thread cannot run another script. */
  | { readonly type: "end"; readonly outcome: ScriptEnd; readonly isSpent: boolean };

/** Memory that a thread and its starter share while one script runs. */
interface SharedState {
  /** The time at which the script began to compute, or zero while it waits. */
  readonly clock: Int32Array;
  /** The number of answers sent. The thread waits for it to change. */
  readonly answers: Int32Array;
}

export const SHARED_BYTES = 8;

export function sharedState(memory: SharedArrayBuffer): SharedState {
  return { clock: new Int32Array(memory, 0, 1), answers: new Int32Array(memory, 4, 1) };
}
