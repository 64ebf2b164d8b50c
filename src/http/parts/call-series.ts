/** The events of one minute. */
export interface Minute {
  /** Its beginning, in milliseconds since 1970. */
  readonly at: number;
  readonly calls: number;
  readonly failed: number;
  /** Tokens of answers. */
  readonly answers: number;
  /** Tokens of menus. */
  readonly menus: number;
  /** Tokens that the same lists would have cost with every tool in them. */
  readonly everything: number;
}

/** Counts by minute, for the last two hours. */
export interface CallSeries {
  add(at: number, counts: Partial<Omit<Minute, "at">>): void;
  /** Minutes with something in them, oldest first. */
  minutes(): readonly Minute[];
  totals(): Omit<Minute, "at">;
}

const MINUTE_MS = 60_000;
const MOST_MINUTES = 120;
const NOTHING = { calls: 0, failed: 0, answers: 0, menus: 0, everything: 0 };

export function createCallSeries(): CallSeries {
  const minutes = new Map<number, Minute>();
  let totals = NOTHING;

  return {
    add: (time, counts) => {
      const at = time - (time % MINUTE_MS);
      minutes.set(at, { ...plus(minutes.get(at) ?? NOTHING, counts), at });
      totals = plus(totals, counts);
      if (minutes.size > MOST_MINUTES) minutes.delete(Math.min(...minutes.keys()));
    },
    minutes: () => [...minutes.values()].sort((one, other) => one.at - other.at),
    totals: () => totals,
  };
}

function plus(one: typeof NOTHING, other: Partial<typeof NOTHING>): typeof NOTHING {
  const { calls = 0, failed = 0, answers = 0, menus = 0, everything = 0 } = other;
  return {
    calls: one.calls + calls,
    failed: one.failed + failed,
    answers: one.answers + answers,
    menus: one.menus + menus,
    everything: one.everything + everything,
  };
}
