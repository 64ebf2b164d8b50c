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
