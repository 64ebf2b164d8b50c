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
export function withDeadline<T>(
  { ms, signal, name }: Deadline,
  work: (signal: () => AbortSignal) => Promise<T>,
): Promise<T> {
  const own = lazy(() => new AbortController());
  return new Promise((resolve, reject) => {
    const cancel = () => stop(problem("CANCELLED", { name }));
    let timer: NodeJS.Timeout | undefined;
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
    };
    const fail = (error: unknown) => {
      end();
      reject(error);
    };
    function stop(reason: Error): void {
      fail(reason);
      own().abort(reason);
    }

    if (signal.aborted) {
      cancel();
      return;
    }
    work(() => own().signal).then((result) => {
      end();
      resolve(result);
    }, fail);
    // The work has begun: a server may have its request by now, and works meanwhile.
    timer = setTimeout(() => stop(problem("TIMEOUT", { name, ms })), ms);
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
  });
}
