import type { Clock } from "keyhole";

export interface ManualClock extends Clock {
  /** Advances the time and runs due timers in order. */
  advance(ms: number): Promise<void>;
  /** Timers that are not due yet. */
  readonly waiting: number;
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** A clock that moves only when a test advances it. */
export function manualClock(): ManualClock {
  const began = Date.now();
  const timers = new Set<Timer>();
  let passed = 0;
  const due = (until: number) =>
    [...timers].filter(({ at }) => at <= until).sort((left, right) => left.at - right.at)[0];
  return {
    now: () => began + passed,
    monotonic: () => passed,
    get waiting() {
      return timers.size;
    },
    after: (ms, run) => {
      const timer = { at: passed + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance: async (ms) => {
      const until = passed + ms;
      for (let next = due(until); next; next = due(until)) {
        timers.delete(next);
        passed = Math.max(passed, next.at);
        next.run();
        // The timer's work may set further timers.
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      }
      passed = until;
    },
  };
}
