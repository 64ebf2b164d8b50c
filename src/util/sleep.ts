import type { Clock } from "./clock.ts";

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
