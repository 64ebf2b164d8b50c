/** Memory that a thread and its starter share while one script runs. */
export interface SharedState {
  /** The time at which the script began to compute, or zero while it waits. */
  readonly clock: Int32Array;
  /** The number of answers sent. The thread waits for it to change. */
  readonly answers: Int32Array;
}

export const SHARED_BYTES = 8;

export function sharedState(memory: SharedArrayBuffer): SharedState {
  return { clock: new Int32Array(memory, 0, 1), answers: new Int32Array(memory, 4, 1) };
}
