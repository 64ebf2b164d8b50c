/** Time, so that a test can be ahead of it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that nobody sets. */
  monotonic(): number;
  /** Runs it once after that time; the answer calls it off. Only with `keepAlive` the process waits for it. */
  after(ms: number, run: () => void, keepAlive?: boolean): () => void;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** The clock of the machine. A wait longer than a timer can be ends early: whoever waits looks again. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, run, keepAlive = false) => {
    const timer = setTimeout(run, Math.min(ms, MAX_TIMER_MS));
    if (!keepAlive) timer.unref();
    return () => clearTimeout(timer);
  },
};
