import { untilAborted } from "./until-aborted.ts";

interface Flight<T> {
  readonly promise: Promise<T>;
  readonly cancel: AbortController;
  riders: number;
}

/** Runs work once at a time; later callers join it. The work is cancelled when the signals of all callers abort. */
export function singleFlight<T>(
  work: (signal: AbortSignal) => Promise<T>,
): (signal?: AbortSignal) => Promise<T> {
  let current: Flight<T> | undefined;
  let previous: Promise<unknown> = Promise.resolve();

  function begin(): Flight<T> {
    const cancel = new AbortController();
    const promise = previous.then(() => work(cancel.signal));
    const flight: Flight<T> = { promise, cancel, riders: 0 };
    // Cancelled work may take a moment to end. The next run starts after it.
    previous = promise.then(
      () => land(flight),
      () => land(flight),
    );
    return flight;
  }

  function land(flight: Flight<T>): void {
    if (current === flight) current = undefined;
  }

  return async (signal = new AbortController().signal) => {
    signal.throwIfAborted();
    current ??= begin();
    const flight = current;
    flight.riders += 1;
    try {
      return await untilAborted(flight.promise, signal);
    } finally {
      flight.riders -= 1;
      if (flight.riders === 0 && current === flight) {
        current = undefined;
        flight.cancel.abort(signal.reason);
      }
    }
  };
}

/** Shares checks. A caller that arrives during one waits for the next: the running check may miss its change. */
export function checkAfter(check: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    if (next) return next;
    const begin = () => {
      next = undefined;
      return check();
    };
    next = last.then(begin, begin);
    last = next;
    return next;
  };
}
