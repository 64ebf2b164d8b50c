import type { Clock } from "./clock.ts";

/** Resolves after that time, or as soon as the signal is raised. Only with `keepAlive` the process waits for it. */
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
