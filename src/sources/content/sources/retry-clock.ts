import { setTimeout as wait } from "node:timers/promises";

/** Time as a source sees it; tests bring their own. */
export interface RetryClock {
  now(): number;
  /** Rejects as soon as the signal is raised. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** From 0 to below 1: spreads out those who wait for the same thing. */
  random(): number;
}

export const SYSTEM_RETRY_CLOCK: RetryClock = {
  now: Date.now,
  sleep: (ms, signal) => wait(ms, undefined, { signal }),
  random: Math.random,
};
