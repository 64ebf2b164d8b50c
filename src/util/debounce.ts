import type { Clock } from "./clock.ts";

export interface Debounced {
  note(): void;
  cancel(): void;
}

export interface DebounceOptions {
  readonly clock: Clock;
  readonly quietMs: number;
  readonly longestMs: number;
}

/** Calls `run` when nothing was noted for `quietMs`, and at the latest `longestMs` after the first note. */
export function debounce(run: () => void, { clock, quietMs, longestMs }: DebounceOptions): Debounced {
  let latest: number | undefined;
  let cancel = () => {};
  return {
    note: () => {
      const now = clock.monotonic();
      latest ??= now + longestMs;
      cancel();
      cancel = clock.after(Math.max(0, Math.min(quietMs, latest - now)), () => {
        latest = undefined;
        run();
      });
    },
    cancel: () => cancel(),
  };
}
