/** Decides when a server that failed may be started again. */
export interface RestartPolicy {
  /** Notes a start; the first ones after a quiet time are free. */
  started(): void;
  /** Milliseconds to wait before the next start. */
  delay(): number;
  /** Milliseconds until the next start where too many were needed; 0 where it may be tried. */
  exhaustedFor(): number;
  /** What went before no longer counts. */
  forget(): void;
  readonly recent: number;
}

export interface RestartLimits {
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
    // Half of it is chance: servers that fell together do not come back together.
    delay: () => {
      const restarts = recent().length;
      return restarts === 0 ? 0 : baseMs * 2 ** (restarts - 1) * (0.5 + random() / 2);
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
