import { setTimeout } from "node:timers/promises";

/** Events that come several at a time: saving a file takes more than one step. */
export interface Bursts {
  note(): void;
  /** Resolves when something has happened since the last time, and then nothing for a while; or on the signal. */
  over(signal: AbortSignal): Promise<void>;
}

/** A burst is over after `quietMs` without an event, and counts as over after `longestMs`. */
export function createBursts(quietMs: number, longestMs: number): Bursts {
  let begun = Promise.withResolvers<void>();
  let last = 0;
  return {
    note: () => {
      last = performance.now();
      begun.resolve();
    },
    over: async (signal) => {
      const stop = () => begun.resolve();
      signal.addEventListener("abort", stop, { once: true });
      await begun.promise;
      const started = performance.now();
      const left = () => Math.max(0, Math.min(last + quietMs, started + longestMs) - performance.now());
      while (!signal.aborted && left() > 0) {
        await setTimeout(left(), undefined, { signal, ref: false }).catch(() => {});
      }
      signal.removeEventListener("abort", stop);
      begun = Promise.withResolvers<void>();
    },
  };
}
