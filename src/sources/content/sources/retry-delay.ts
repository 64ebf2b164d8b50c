import { backoffMs } from "../../../util/backoff.ts";
import { parseRetryAfter } from "../../../util/parse-retry-after.ts";

export interface Headers {
  get(name: string): string | null;
}

/** The current time, and a number from 0 to below 1. */
export interface DelayInput {
  readonly now: number;
  readonly random: () => number;
}

const FIRST_MS = 500;
const LONGEST_MS = 30_000;
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Words by which a 403 turns out to be a rate limit. */
const LIMIT_WORDS = /rate ?limit|userRateLimitExceeded|quotaExceeded/i;

/** Whether the same read may succeed later. */
export function isRetried(status: number, headers: Headers, body: string): boolean {
  return RETRIED.has(status) || (status === 403 && isRateLimit(headers, body));
}

/** Returns the wait before attempt number `attempt` (from 1): as the API asks, or a backoff. */
export function retryDelay(
  attempt: number,
  headers: Headers | undefined,
  { now, random }: DelayInput,
): number {
  const asked = headers && (parseRetryAfter(headers.get("retry-after"), now) ?? untilReset(headers, now));
  const limits = { firstMs: FIRST_MS, longestMs: LONGEST_MS, random };
  return asked ?? Math.round(backoffMs(attempt, limits));
}

function isRateLimit(headers: Headers, body: string): boolean {
  if (headers.get("x-ratelimit-remaining") === "0" || headers.get("retry-after") !== null) return true;
  return LIMIT_WORDS.test(body.slice(0, 4_000));
}

/** Reads the epoch second at which a rate limit that is used up starts again. */
function untilReset(headers: Headers, now: number): number | undefined {
  if (headers.get("x-ratelimit-remaining") !== "0") return undefined;
  const value = headers.get("x-ratelimit-reset")?.trim() ?? "";
  if (!/^\d{9,11}$/.test(value)) return undefined;
  return Math.max(0, Number(value) * 1000 - now);
}
