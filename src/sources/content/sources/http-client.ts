import { LRUCache } from "lru-cache";
import { createGuardedFetch } from "../../../base/net/guarded-fetch.ts";
import { readBytes } from "../../../base/net/read-response.ts";
import { parseRetryAfter, statusProblem } from "../../../base/net/status-problem.ts";
import { isProblem, problem } from "../../../base/problems/problem.ts";
import { reveal, type Secret } from "../../../base/safety/known-secrets.ts";
import { createRedact } from "../../../base/safety/redact.ts";
import { type Clock, systemClock } from "../../../base/util/clock.ts";
import { cutText } from "../../../base/util/cut-text.ts";
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
  /** Longest wait that an API may ask for, in milliseconds; longer waits fail. Default: five minutes. */
  readonly maxWaitMs?: number;
  /** Largest answer, in bytes. Default: 25 MB. */
  readonly maxBytes?: number;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock;
  /** For tests: a number from 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
}

export interface HttpRequest {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly context?: FetchContext | undefined;
  /** Documents read so far, for progress messages during a wait. */
  readonly done?: number;
}

export interface HttpAnswer<T> {
  readonly value: T;
  readonly headers: Headers;
}

/** Reads an API with conditional requests and retries, and never leaves its origin. */
export interface HttpClient {
  json(path: string, request?: HttpRequest): Promise<HttpAnswer<unknown>>;
  bytes(path: string, request?: HttpRequest): Promise<HttpAnswer<Buffer>>;
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

const KEPT_BYTES = 32 * 1024 * 1024;
const NEVER: FetchContext = { signal: new AbortController().signal, progress: () => {} };

export function createHttpClient(
  name: string,
  auth: HttpAuth,
  options: ContentHttpOptions & { readonly baseUrl: string },
): HttpClient {
  const { timeoutMs = 60_000, maxRetries = 4, maxWaitMs = 5 * 60_000, maxBytes = 25 * 1024 * 1024 } = options;
  const { clock = systemClock, random = Math.random } = options;
  const base = toBase(name, options.baseUrl);
  const guardedFetch = createGuardedFetch({ allowPrivateHosts: options.allowPrivateHosts ?? [] });
  const responses = new LRUCache<string, CachedResponse>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ bytes }, key) => bytes.length + key.length + 512,
  });

  async function read<T>(path: string, request: HttpRequest, parse: (bytes: Buffer) => T) {
    const { context = NEVER, done = 0 } = request;
    const url = toUrl(name, base, path, request.query);
    for (let attempt = 1; ; attempt++) {
      if (context.signal.aborted) throw problem("CANCELLED", { name });
      const outcome = await tryOnce(url, request, context.signal, parse);
      if (!("problem" in outcome)) return outcome;
      const delay = retryDelay(attempt, outcome.headers, { now: clock.now(), random });
      if (outcome.isFinal || attempt > maxRetries || delay > maxWaitMs) throw outcome.problem;
      context.progress({ done, message: `${name}: trying again in ${Math.ceil(delay / 1000)} s` });
      await sleep(delay, clock, context.signal, true);
    }
  }

  /** Returns the answer, or a failure that may be retried. */
  async function tryOnce<T>(
    url: URL,
    request: HttpRequest,
    signal: AbortSignal,
    parse: (bytes: Buffer) => T,
  ): Promise<HttpAnswer<T> | HttpFailure> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const answer = await exchange(url, request, limit, true);
      return "problem" in answer ? answer : { value: parse(answer.bytes), headers: answer.headers };
    } catch (error) {
      if (signal.aborted) throw problem("CANCELLED", { name });
      if (limit.aborted) return { problem: problem("TIMEOUT", { name, ms: timeoutMs }) };
      if (isProblem(error) && error.code !== "CALL_FAILED") throw error;
      return { problem: isProblem(error) ? error : brokenOff(name, reasonOf(error)) };
    }
  }

  async function exchange(
    url: URL,
    request: HttpRequest,
    signal: AbortSignal,
    mayRenew: boolean,
  ): Promise<CachedResponse | HttpFailure> {
    const { headers: credentials, secrets } = await auth.get(signal);
    const key = `${request.headers?.accept ?? ""} ${url.href}`;
    const cached = responses.get(key);
    const headers = { "user-agent": "keyhole", ...request.headers, ...credentials, ...validators(cached) };
    const response = await guardedFetch(url, { headers, signal });
    const bytes = await readBytes(response, name, maxBytes);
    if (response.status === 304 && cached) return cached;
    if (response.ok) {
      const answer = { bytes, headers: response.headers };
      if (Object.keys(validators(answer)).length > 0) responses.set(key, answer);
      return answer;
    }
    if (response.status === 401 && mayRenew && auth.forget()) return exchange(url, request, signal, false);
    const body = createRedact(secrets)(bytes.toString("utf8"));
    if (!isRetried(response.status, response.headers, body))
      return { problem: toStatusProblem(name, response, body), isFinal: true };
    const isLimit = response.status === 403 || response.status === 429;
    return {
      problem: isLimit ? tooOften(response) : toStatusProblem(name, response, body),
      headers: response.headers,
    };
  }

  function tooOften({ status, headers }: { readonly status: number; readonly headers: Headers }) {
    const wait = `${Math.ceil(retryDelay(maxRetries, headers, { now: clock.now(), random }) / 1000)} seconds`;
    return problem("RATE_LIMITED", { name, status, reason: "it is asked too often.", wait }, { status });
  }

  return {
    json: (path, request = {}) => read(path, jsonRequest(request), (bytes) => parseJson(name, bytes)),
    bytes: (path, request = {}) => read(path, request, (bytes) => bytes),
  };
}

function jsonRequest(request: HttpRequest): HttpRequest {
  return { ...request, headers: { accept: "application/json", ...request.headers } };
}

function validators(known: CachedResponse | undefined): Record<string, string> {
  const etag = known?.headers.get("etag");
  const modified = known?.headers.get("last-modified");
  return { ...(etag && { "if-none-match": etag }), ...(modified && { "if-modified-since": modified }) };
}

function toBase(name: string, baseUrl: string): URL {
  if (!URL.canParse(baseUrl)) throw problem("SOURCE_INVALID", { name, reason: "its baseUrl is not a URL" });
  return new URL(baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`);
}

/** Pages link to the next page by URL. Credentials must not leave the origin. */
function toUrl(name: string, base: URL, path: string, query: HttpRequest["query"] = {}): URL {
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

function toStatusProblem(name: string, response: Parameters<typeof statusProblem>[1], body: string) {
  let value: unknown = cutText(body, 2_000);
  try {
    value = JSON.parse(body);
  } catch {
    // Proxies answer in HTML; the start of the text is enough.
  }
  return statusProblem(name, response, value);
}

/** Incomplete JSON means that the answer broke off. */
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

interface Headers {
  get(name: string): string | null;
}

/** The current time, and a number from 0 to below 1. */
interface DelayInput {
  readonly now: number;
  readonly random: () => number;
}

const FIRST_MS = 500;
const LONGEST_MS = 30_000;
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Words by which a 403 turns out to be a rate limit. */
const LIMIT_WORDS = /rate ?limit|userRateLimitExceeded|quotaExceeded/i;

/** Whether the same read may succeed later. */
function isRetried(status: number, headers: Headers, body: string): boolean {
  return RETRIED.has(status) || (status === 403 && isRateLimit(headers, body));
}

/** Returns the wait before attempt number `attempt` (from 1): as the API asks, or a backoff. */
function retryDelay(attempt: number, headers: Headers | undefined, { now, random }: DelayInput): number {
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

interface HttpPage<T, C> {
  readonly found: readonly T[];
  /** Cursor of the next page; undefined after the last. */
  readonly next?: C | undefined;
}

const MAX_DOCUMENTS = 200_000;

/** Collects all pages of a listing. Throws SOURCE_INVALID for a loop and LIMIT_EXCEEDED for too many pages. */
export async function collectPages<T, C extends string | number>(
  name: string,
  first: C,
  fetchPage: (cursor: C, done: number) => Promise<HttpPage<T, C>>,
  context?: FetchContext,
  limit = MAX_DOCUMENTS,
): Promise<T[]> {
  const all: T[] = [];
  const seen = new Set<C>();
  for (let cursor: C | undefined = first; cursor !== undefined; ) {
    if (seen.has(cursor)) throw problem("SOURCE_INVALID", { name, reason: "its pages go in circles" });
    seen.add(cursor);
    const page: HttpPage<T, C> = await fetchPage(cursor, all.length);
    for (const found of page.found) all.push(found);
    if (all.length > limit || seen.size > limit) {
      throw problem("LIMIT_EXCEEDED", { what: `The listing of ${name}`, actual: `over ${limit}`, limit });
    }
    context?.progress({ done: all.length, message: `${name}: listing` });
    cursor = page.next;
  }
  return all;
}

/** Credentials for an API. */
export interface HttpAuth {
  /** Returns the headers of a request and the secrets in them. */
  get(signal: AbortSignal): Promise<{
    readonly headers: Readonly<Record<string, string>>;
    readonly secrets: readonly string[];
  }>;
  /** Drops a cached token that may be stale. Returns false if there was none. */
  forget(): boolean;
}

export const NO_AUTH: HttpAuth = { get: async () => ({ headers: {}, secrets: [] }), forget: () => false };

/** Sends a secret in a header. The secret is read again for each request. */
export function createHeaderAuth(name: string, header: string, secret: Secret, prefix = ""): HttpAuth {
  return {
    get: async () => {
      const value = await reveal(secret, name);
      return { headers: { [header]: `${prefix}${value}` }, secrets: [value] };
    },
    forget: () => false,
  };
}
