import { backoffMs } from "../../util/backoff.ts";

/** Decides when a server that failed may be started again. */
export interface RestartPolicy {
  /** Notes a start. The first one in the window needs no wait. */
  started(): void;
  /** Milliseconds to wait before the next start. */
  delay(): number;
  /** Milliseconds until the next start after too many; 0 if the server may be started. */
  exhaustedFor(): number;
  /** Earlier starts no longer count. */
  forget(): void;
  /** Starts within the window. */
  readonly recent: number;
}

export interface RestartLimits {
  /** Starts within the window. */
  readonly most: number;
  readonly windowMs: number;
  readonly baseMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

export function createRestartPolicy({ most, windowMs, baseMs, now, random }: RestartLimits): RestartPolicy {
  let starts: number[] = [];

  function recent(): number[] {
    starts = starts.filter((at) => now() - at < windowMs);
    return starts;
  }

  return {
    started: () => {
      starts = [...recent(), now()];
    },
    delay: () => {
      const failures = recent().length;
      return failures === 0 ? 0 : backoffMs(failures, { firstMs: baseMs, longestMs: windowMs, random });
    },
    exhaustedFor: () => {
      const times = recent();
      return times.length > most ? windowMs - (now() - times[0]!) : 0;
    },
    forget: () => {
      starts = [];
    },
    get recent() {
      return recent().length;
    },
  };
}
