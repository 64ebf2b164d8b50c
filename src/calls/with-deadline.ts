import { problem } from "../schema/problem.ts";
import { lazy } from "../util/lazy.ts";

interface Deadline {
  readonly ms: number;
  /** The caller's signal; aborting it cancels the work. */
  readonly signal: AbortSignal;
  /** The name of the work in the problem. */
  readonly name: string;
}

/**
 * Runs work with an AbortSignal, which is created only if the work reads it. Stops waiting when the time is over or
 * the caller cancels, even if the work ignores the signal.
 */
export async function withDeadline<T>(
  { ms, signal, name }: Deadline,
  work: (signal: () => AbortSignal) => Promise<T>,
): Promise<T> {
  const own = lazy(() => new AbortController());
  const stop = Promise.withResolvers<never>();
  const cancel = () => end(problem("CANCELLED", { name }));
  const timer = setTimeout(() => end(problem("TIMEOUT", { name, ms })), ms);
  function end(reason: Error): void {
    stop.reject(reason);
    own().abort(reason);
  }

  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([stop.promise, signal.aborted ? stop.promise : work(() => own().signal)]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}
