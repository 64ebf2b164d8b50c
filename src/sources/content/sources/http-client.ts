import { LRUCache } from "lru-cache";
import { createGuardedFetch } from "../../../base/net/guarded-fetch.ts";
import { readBytes, readValue } from "../../../base/net/read-response.ts";
import { parseRetryAfter, statusProblem } from "../../../base/net/status-problem.ts";
import { isProblem, type Problem, problem } from "../../../base/problems/problem.ts";
import { reveal, type Secret } from "../../../base/safety/known-secrets.ts";
import { createRedact } from "../../../base/safety/redact.ts";
import { type Clock, systemClock } from "../../../base/util/clock.ts";
import { field } from "../../../base/util/plain-object.ts";
import { reasonOf } from "../../../base/util/reason-of.ts";
import type { FetchContext } from "../../../core/nouns/pipeline.ts";
import { backoffMs, sleep } from "../../backoff.ts";

/** Options of all sources that read an HTTP API. */
export interface ContentHttpOptions {
  /** Address of the API, for self-hosted servers. */
  readonly baseUrl?: string;
  /** Hosts, as `name` or `name:port`, that may be private and without TLS. */
  readonly allowPrivateHosts?: readonly string[];
  /** Time limit for one request, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
  /** How often a failed request is repeated. Default: 4. */
  readonly maxRetries?: number;
  /** Longest wait that an API may ask for, in milliseconds. Longer waits fail. Default: five minutes. */
  readonly maxWaitMs?: number;
  /** Largest answer, in bytes. Default: 25 MB. */
  readonly maxBytes?: number;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock;
  /** For tests: a number from 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
}

export type HttpQuery = Readonly<Record<string, string | number | undefined>>;

export type HttpClient = ReturnType<typeof createHttpClient>;

interface HttpApi {
  /** Name for problems. */
  readonly name: string;
  readonly auth: HttpAuth;
  readonly baseUrl: string;
  /** Headers of requests for JSON. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface CachedResponse {
  readonly bytes: Buffer;
  readonly headers: Headers;
}

interface HttpFailure {
  readonly problem: Error;
  /** Headers of the failed answer. */
  readonly headers?: Headers;
  /** The same request would fail again. */
  readonly isFinal?: boolean;
}

const CACHED_BYTES = 32 * 1024 * 1024;
const FIRST_MS = 500;
const LONGEST_MS = 30_000;
const NEVER: FetchContext = { signal: new AbortController().signal, progress: () => {} };

/** Reads an API with conditional requests and retries. Never leaves its origin. */
export function createHttpClient(api: HttpApi, options: ContentHttpOptions) {
  const { name, auth } = api;
  const { timeoutMs = 60_000, maxRetries = 4, maxWaitMs = 5 * 60_000, maxBytes = 25 * 1024 * 1024 } = options;
  const { clock = systemClock, random = Math.random } = options;
  const base = toBase(name, options.baseUrl ?? api.baseUrl);
  const jsonHeaders = { accept: "application/json", ...api.headers };
  const guardedFetch = createGuardedFetch({ allowPrivateHosts: options.allowPrivateHosts ?? [] });
  const responses = new LRUCache<string, CachedResponse>({
    maxSize: CACHED_BYTES,
    sizeCalculation: ({ bytes }, key) => bytes.length + key.length + 512,
  });

  async function read<T>(
    url: URL,
    requestHeaders: Readonly<Record<string, string>>,
    { signal, progress }: FetchContext = NEVER,
    parse: (response: CachedResponse) => T,
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      if (signal.aborted) throw problem("CANCELLED", { name });
      const outcome = await tryOnce(url, requestHeaders, signal, parse);
      if ("value" in outcome) return outcome.value;
      const delay = retryDelay(attempt, outcome.headers);
      if (outcome.isFinal || attempt > maxRetries || delay > maxWaitMs) throw outcome.problem;
      progress({ done: 0, message: `${name}: trying again in ${Math.ceil(delay / 1000)} s` });
      await sleep(delay, clock, signal, true);
    }
  }

  /** The answer, or a failure that may be retried. */
  async function tryOnce<T>(
    url: URL,
    requestHeaders: Readonly<Record<string, string>>,
    signal: AbortSignal,
    parse: (response: CachedResponse) => T,
  ): Promise<{ value: T } | HttpFailure> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const answer = await exchange(url, requestHeaders, limit, true);
      return "problem" in answer ? answer : { value: parse(answer) };
    } catch (error) {
      if (signal.aborted) throw problem("CANCELLED", { name });
      if (limit.aborted) return { problem: problem("TIMEOUT", { name, ms: timeoutMs }) };
      if (isProblem(error) && error.code !== "CALL_FAILED") throw error;
      return { problem: isProblem(error) ? error : brokenOff(name, reasonOf(error)) };
    }
  }

  async function exchange(
    url: URL,
    requestHeaders: Readonly<Record<string, string>>,
    signal: AbortSignal,
    mayRenew: boolean,
  ): Promise<CachedResponse | HttpFailure> {
    const { headers: credentials, secrets } = await auth.get(signal);
    const key = `${requestHeaders.accept ?? ""} ${url.href}`;
    const cached = responses.get(key);
    const headers = { "user-agent": "keyhole", ...requestHeaders, ...credentials, ...validators(cached) };
    const response = await guardedFetch(url, { headers, signal });
    const bytes = await readBytes(response, name, maxBytes);
    if (response.status === 304 && cached) return cached;
    if (response.ok) {
      const answer = { bytes, headers: response.headers };
      if (Object.keys(validators(answer)).length > 0) responses.set(key, answer);
      return answer;
    }
    if (response.status === 401 && mayRenew && auth.forget())
      return exchange(url, requestHeaders, signal, false);
    const isFinal = !isRetried(response, bytes);
    const isLimit = !isFinal && (response.status === 403 || response.status === 429);
    return {
      problem: isLimit
        ? tooOften(name, response, retryDelay(maxRetries, response.headers))
        : statusProblem(name, response, createRedact(secrets)(readValue(response, bytes))),
      headers: response.headers,
      isFinal,
    };
  }

  /** The wait before attempt number `attempt` (from 1): as the API asks, or a backoff. */
  function retryDelay(attempt: number, headers: Headers | undefined): number {
    const now = clock.now();
    const asked = headers && (parseRetryAfter(headers.get("retry-after"), now) ?? untilReset(headers, now));
    return asked ?? Math.round(backoffMs(attempt, { firstMs: FIRST_MS, longestMs: LONGEST_MS, random }));
  }

  /** Also returns the URL of the next page from the `Link` header. */
  const page = (path: string, query?: HttpQuery, context?: FetchContext) =>
    read(
      toUrl(name, base, path, query),
      jsonHeaders,
      context,
      ({ bytes, headers }): { value: unknown; next?: string } => {
        const next = linkNext(headers.get("link"));
        return { value: parseJson(name, bytes), ...(next !== undefined && { next }) };
      },
    );

  return {
    page,
    json: async (...request: Parameters<typeof page>): Promise<unknown> => (await page(...request)).value,
    bytes: (path: string, query?: HttpQuery, context?: FetchContext): Promise<Buffer> =>
      read(toUrl(name, base, path, query), {}, context, ({ bytes }) => bytes),
  };
}

function tooOften(name: string, { status }: Response, delayMs: number): Problem {
  const wait = `${Math.ceil(delayMs / 1000)} seconds`;
  return problem("RATE_LIMITED", { name, status, reason: "it is asked too often.", wait }, { status });
}

function validators(cached: CachedResponse | undefined): Record<string, string> {
  const etag = cached?.headers.get("etag");
  const modified = cached?.headers.get("last-modified");
  return { ...(etag && { "if-none-match": etag }), ...(modified && { "if-modified-since": modified }) };
}

function toBase(name: string, baseUrl: string): URL {
  if (!URL.canParse(baseUrl)) throw problem("SOURCE_INVALID", { name, reason: "its baseUrl is not a URL" });
  return new URL(baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`);
}

/** Pages link to the next page by URL. Credentials must not leave the origin. */
function toUrl(name: string, base: URL, path: string, query: HttpQuery = {}): URL {
  const url = new URL(path, base);
  if (url.origin !== base.origin) {
    const reason = `${name} leads on to another origin, ${url.origin}`;
    throw problem("REQUEST_REFUSED", { where: url.host, reason });
  }
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(key, String(value));
  }
  return url;
}

/** Invalid JSON means that the answer was truncated. */
function parseJson(name: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw brokenOff(name, `its answer of ${bytes.length} bytes is not whole JSON`);
  }
}

function brokenOff(name: string, reason: string) {
  return problem("CALL_FAILED", { name, reason, advice: "Refresh the source later." });
}

const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Words that mark a 403 as a rate limit. */
const LIMIT_WORDS = /rate ?limit|userRateLimitExceeded|quotaExceeded/i;

/** Whether the same read may succeed later. */
function isRetried({ status, headers }: Response, bytes: Buffer): boolean {
  if (status !== 403) return RETRIED.has(status);
  if (headers.get("x-ratelimit-remaining") === "0" || headers.get("retry-after") !== null) return true;
  return LIMIT_WORDS.test(bytes.toString("utf8", 0, 4_000));
}

/** The epoch second at which a used-up rate limit restarts. */
function untilReset(headers: Headers, now: number): number | undefined {
  if (headers.get("x-ratelimit-remaining") !== "0") return undefined;
  const value = headers.get("x-ratelimit-reset")?.trim() ?? "";
  if (!/^\d{9,11}$/.test(value)) return undefined;
  return Math.max(0, Number(value) * 1000 - now);
}

/** The URL of the next page in a `Link` header (RFC 8288). */
function linkNext(header: string | null): string | undefined {
  for (const part of (header ?? "").slice(0, 8_000).split(/,(?=\s*<)/)) {
    const close = part.indexOf(">");
    const open = part.indexOf("<");
    if (open !== -1 && close > open && /;\s*rel="?next\b/i.test(part.slice(close))) {
      return part.slice(open + 1, close);
    }
  }
  return undefined;
}

const MAX_DOCUMENTS = 200_000;

/**
 * Collects all pages of a listing. `next` of a page is the cursor of the following page, if any. Throws SOURCE_INVALID
 * for a loop and LIMIT_EXCEEDED for too many pages.
 */
export async function collectPages<T, C extends string | number>(
  name: string,
  first: C,
  fetchPage: (cursor: C, context: FetchContext) => Promise<{ found: readonly T[]; next?: C | undefined }>,
  { signal, progress }: FetchContext = NEVER,
): Promise<T[]> {
  const all: T[] = [];
  const seen = new Set<C>();
  const counting: FetchContext = { signal, progress: (update) => progress({ ...update, done: all.length }) };
  for (let cursor: C | undefined = first; cursor !== undefined; ) {
    if (seen.has(cursor)) throw problem("SOURCE_INVALID", { name, reason: "its pages go in circles" });
    seen.add(cursor);
    const page: { found: readonly T[]; next?: C | undefined } = await fetchPage(cursor, counting);
    for (const found of page.found) all.push(found);
    if (all.length > MAX_DOCUMENTS || seen.size > MAX_DOCUMENTS) {
      const limits = { actual: `over ${MAX_DOCUMENTS}`, limit: MAX_DOCUMENTS };
      throw problem("LIMIT_EXCEEDED", { what: `The listing of ${name}`, ...limits });
    }
    counting.progress({ done: all.length, message: `${name}: listing` });
    cursor = page.next;
  }
  return all;
}

/** Reads a required list of an answer. */
export function arrayIn(value: unknown, key: string, name: string): readonly unknown[] {
  const list = field(value, key);
  if (Array.isArray(list)) return list;
  throw problem("SOURCE_INVALID", { name, reason: `its answer has no ${key}` });
}

/** Credentials for an API. */
export interface HttpAuth {
  /** Returns the headers of a request and the secrets in them. */
  get(signal: AbortSignal): Promise<{
    readonly headers: Readonly<Record<string, string>>;
    readonly secrets: readonly string[];
  }>;
  /** Drops a cached token that may be stale. False if there was none. */
  forget(): boolean;
}

export const NO_AUTH: HttpAuth = { get: async () => ({ headers: {}, secrets: [] }), forget: () => false };

/** Sends a secret in a header. Reads the secret again for each request. */
export function createHeaderAuth(name: string, header: string, secret: Secret, prefix = ""): HttpAuth {
  return {
    get: async () => {
      const value = await reveal(secret, name);
      return { headers: { [header]: `${prefix}${value}` }, secrets: [value] };
    },
    forget: () => false,
  };
}
