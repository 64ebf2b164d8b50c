import type { Clock } from "../base/util/clock.ts";

export interface BackoffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
  /** From 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
}

/**
 * The wait after this many failures in a row: doubled each time, up to the longest. Half of it is random, so that
 * clients that failed together do not return together.
 */
export function backoffMs(
  failures: number,
  { firstMs, longestMs, random = Math.random }: BackoffLimits,
): number {
  const planned = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 32));
  return planned * (0.5 + random() / 2);
}

/** Resolves after this time, or when the signal aborts. Only with `keepAlive` does the process wait. */
export function sleep(
  ms: number,
  clock: Clock,
  signal: AbortSignal | undefined,
  keepAlive = false,
): Promise<void> {
  if (ms <= 0 || signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      callOff();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const callOff = clock.after(ms, end, keepAlive);
    signal?.addEventListener("abort", end, { once: true });
  });
}
