/** A clock that tests can replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that is never adjusted. */
  monotonic(): number;
  /** Runs a function once after this time. Returns its cancellation. The process waits only with `keepAlive`. */
  after(ms: number, run: () => void, keepAlive?: boolean): () => void;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** The clock of the machine. A wait beyond the limit of timers ends early: callers must check the time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, run, keepAlive = false) => {
    const timer = setTimeout(run, Math.min(ms, MAX_TIMER_MS));
    if (!keepAlive) timer.unref();
    return () => clearTimeout(timer);
  },
};
