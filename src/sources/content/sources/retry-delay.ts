import type { RetryClock } from "./retry-clock.ts";

export interface Headers {
  get(name: string): string | null;
}

const FIRST_MS = 500;
const LONGEST_MS = 30_000;
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Where an API says that it was asked too often, in a 403. */
const LIMIT_WORDS = /rate ?limit|userRateLimitExceeded|quotaExceeded/i;

/** Whether the same read may do better later. */
export function isRetried(status: number, headers: Headers, body: string): boolean {
  return RETRIED.has(status) || (status === 403 && isRateLimit(headers, body));
}

/** How long to wait before attempt number `attempt` (from 1): what the answer says, or a jittered backoff. */
export function retryDelay(attempt: number, headers: Headers | undefined, clock: RetryClock): number {
  const told = headers && (toldByRetryAfter(headers, clock) ?? toldByReset(headers, clock));
  if (told !== undefined) return told;
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1));
  return Math.round((longest * (1 + clock.random())) / 2);
}

function isRateLimit(headers: Headers, body: string): boolean {
  if (headers.get("x-ratelimit-remaining") === "0" || headers.get("retry-after") !== null) return true;
  return LIMIT_WORDS.test(body.slice(0, 4_000));
}

/** Seconds, or an HTTP date. */
function toldByRetryAfter(headers: Headers, clock: RetryClock): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isFinite(at) ? Math.max(0, at - clock.now()) : undefined;
}

/** The second of the epoch at which the limit starts anew; it counts only where the limit is used up. */
function toldByReset(headers: Headers, clock: RetryClock): number | undefined {
  if (headers.get("x-ratelimit-remaining") !== "0") return undefined;
  const value = headers.get("x-ratelimit-reset")?.trim() ?? "";
  if (!/^\d{9,11}$/.test(value)) return undefined;
  return Math.max(0, Number(value) * 1000 - clock.now());
}
