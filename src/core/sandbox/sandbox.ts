/** A request of a running script: a call, a search, a pause. Its fields are untrusted. */
export interface ScriptRequest {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The answer to a request. Labelled results are watched for reads of missing fields. */
export interface ScriptAnswer {
  readonly ok: boolean;
  readonly value: unknown;
  readonly label?: string;
}

/** Serves a running script. Requests are numbered from one, in the order of the script. */
export interface ScriptHost {
  request(request: ScriptRequest, number: number, answer: (answer: ScriptAnswer) => void): void;
}

export interface ScriptOutcome {
  readonly end: ScriptEnd;
  readonly logs: readonly string[];
  readonly misses: readonly MissingField[];
}

export interface ScriptOptions {
  /** Ends the script. */
  readonly signal: AbortSignal;
  /** Threads are shared fairly between owners. */
  readonly owner: string;
}

/** Runs untrusted scripts, which can reach only the host. */
export interface Sandbox {
  run(script: Script, host: ScriptHost, options: ScriptOptions): Promise<ScriptOutcome>;
  /** Ends all scripts and threads. */
  close(): Promise<void>;
}

export interface ScriptLimits {
  /** Milliseconds from start to end, including waits. */
  readonly timeMs: number;
  /** Milliseconds of computing. */
  readonly computeMs: number;
  /** Memory of the engine with the script. At least 16 MiB. */
  readonly memoryBytes: number;
  readonly stackBytes: number;
  /** Requests to the host, including `sleep` and searches. */
  readonly requests: number;
  /** Characters of one request, of the returned value, and of all logs together. */
  readonly chars: number;
}

/** A script with everything that decides how it runs: given the same answers, it does the same. */
export interface Script {
  /** Body of an async function, in JavaScript or TypeScript. */
  readonly code: string;
  /** The only time that the script sees. */
  readonly now: number;
  readonly seed: readonly [number, number, number, number];
  /** JSON of the variable `params`. */
  readonly params: string;
  readonly limits: ScriptLimits;
}

/** A read of a field that a result does not have. */
export interface MissingField {
  readonly field: string;
  /** The host's label of the result. */
  readonly label: string;
  /** Fields of the object. */
  readonly fields: readonly string[];
}

/** An error that ended a script, as text. */
interface ScriptError {
  readonly name: string;
  readonly message: string;
  /** Line of the script, if known. The engine names the last statement with a call before the error. */
  readonly line?: number;
  /** JSON of the problem, if the host gave the script this error. */
  readonly problem?: string;
}

/** Why a script was stopped before it returned or threw. */
export type StopReason = "time" | "compute" | "memory" | "stuck" | "cancelled" | "crashed";

export type ScriptEnd =
  /** `nothing`: it ended without a value. */
  | { readonly end: "returned"; readonly json: string; readonly nothing?: true }
  | { readonly end: "threw"; readonly error: ScriptError }
  | { readonly end: "stopped"; readonly why: StopReason };

/** A text is the answer to a request, in the format of the prelude. Sending a text costs less than an object. */
export type ToWorker = StartMessage | string;

export interface StartMessage {
  readonly script: Script;
  readonly state: SharedArrayBuffer;
}

/** A text is the JSON of a request. Requests are numbered from one in order. */
export type FromWorker =
  | string
  | { readonly type: "log"; readonly text: string }
  | { readonly type: "miss"; readonly miss: MissingField }
  /** `isSpent`: the thread cannot run another script. */
  | { readonly type: "end"; readonly outcome: ScriptEnd; readonly isSpent: boolean };

/** Memory that a thread shares with its starter while a script runs. */
interface SharedState {
  /** The time at which the script began to compute, or zero while it waits. */
  readonly clock: Int32Array;
  /** Number of answers sent. The thread waits for it to change. */
  readonly answers: Int32Array;
}

export const SHARED_BYTES = 8;

export function sharedState(memory: SharedArrayBuffer): SharedState {
  return { clock: new Int32Array(memory, 0, 1), answers: new Int32Array(memory, 4, 1) };
}
