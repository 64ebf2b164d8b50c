import { LRUCache } from "lru-cache";
import { lazy } from "../../base/util/lazy.ts";

/** Limits for each caller over HTTP. */
export interface CallerLimitOptions {
  /** Average requests per second. Default: 50. */
  readonly ratePerSecond?: number;
  /** Requests that may come at once after a pause. Default: 100. */
  readonly burst?: number;
  /** Requests that run at the same time. Default: 32. */
  readonly concurrency?: number;
  /** Open streams that wait for news. Default: 512, half of what the server has. */
  readonly streams?: number;
  readonly now?: () => number;
}

interface Usage {
  tokens: number;
  refilled: number;
  readonly open: { calls: number; streams: number };
}

const MAX_CALLERS = 100_000;

/** Keeps one caller from using up the server. */
export function createCallerLimits(options: CallerLimitOptions = {}) {
  const { ratePerSecond = 50, burst = 100, concurrency = 32, streams = 512 } = options;
  // The wall clock may jump.
  const now = options.now ?? (() => performance.now());
  // The cache reserves room for all callers at once.
  const callers = lazy(() => new LRUCache<string, Usage>({ max: MAX_CALLERS }));

  function usageOf(callerId: string): Usage {
    const fresh = { tokens: burst, refilled: now(), open: { calls: 0, streams: 0 } };
    const usage = callers().get(callerId) ?? fresh;
    callers().set(callerId, usage);
    const seconds = (now() - usage.refilled) / 1000;
    usage.tokens = Math.min(burst, usage.tokens + seconds * ratePerSecond);
    usage.refilled = now();
    return usage;
  }

  return {
    /** Admits a request, to be released when it is answered, or returns in how many seconds to retry. */
    enter: (callerId: string, isStream = false): { release(): void } | { retryAfter: number } => {
      const usage = usageOf(callerId);
      const { open } = usage;
      const kind = isStream ? "streams" : "calls";
      if (usage.tokens < 1) return { retryAfter: Math.max(1, Math.ceil((1 - usage.tokens) / ratePerSecond)) };
      if (open[kind] >= (isStream ? streams : concurrency)) return { retryAfter: 1 };
      usage.tokens -= 1;
      open[kind] += 1;
      let released = false;
      return {
        release: () => {
          if (!released) open[kind] -= 1;
          released = true;
        },
      };
    },
  };
}
