import type { Clock } from "../base/util/clock.ts";

export interface BackoffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
  /** From 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
}

/**
 * Returns how long to wait after this many failures in a row: doubled each time, never over the longest.
 * Half of the wait is random, so that clients that failed together do not come back together.
 */
export function backoffMs(
  failures: number,
  { firstMs, longestMs, random = Math.random }: BackoffLimits,
): number {
  const planned = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 32));
  return planned * (0.5 + random() / 2);
}

/** Resolves after that time, or when the signal aborts. Keeps the process alive only with `keepAlive`. */
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
