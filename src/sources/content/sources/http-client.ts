import { LRUCache } from "lru-cache";
import { createGuardedFetch } from "../../../net/guarded-fetch.ts";
import { readBytes } from "../../../net/read-response.ts";
import { statusProblem } from "../../../net/status-problem.ts";
import type { FetchContext } from "../../../schema/pipeline.ts";
import { isProblem, problem } from "../../../schema/problem.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import { cutText } from "../../../util/cut-text.ts";
import { reasonOf } from "../../../util/reason-of.ts";
import { createRedact } from "../../../util/redact.ts";
import { sleep } from "../../../util/sleep.ts";
import type { HttpAuth } from "./http-auth.ts";
import { type Headers, isRetried, retryDelay } from "./retry-delay.ts";

/** Options of all sources that read an HTTP API. */
export interface HttpOptions {
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

interface Kept {
  readonly bytes: Buffer;
  readonly headers: Headers;
}

interface Failure {
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
  options: HttpOptions & { readonly baseUrl: string },
): HttpClient {
  const { timeoutMs = 60_000, maxRetries = 4, maxWaitMs = 5 * 60_000, maxBytes = 25 * 1024 * 1024 } = options;
  const { clock = systemClock, random = Math.random } = options;
  const base = toBase(name, options.baseUrl);
  const guardedFetch = createGuardedFetch({ allowPrivateHosts: options.allowPrivateHosts ?? [] });
  const kept = new LRUCache<string, Kept>({
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
  ): Promise<HttpAnswer<T> | Failure> {
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
  ): Promise<Kept | Failure> {
    const { headers: credentials, secrets } = await auth.get(signal);
    const key = `${request.headers?.accept ?? ""} ${url.href}`;
    const known = kept.get(key);
    const headers = { "user-agent": "keyhole", ...request.headers, ...credentials, ...validators(known) };
    const response = await guardedFetch(url, { headers, signal });
    const bytes = await readBytes(response, name, maxBytes);
    if (response.status === 304 && known) return known;
    if (response.ok) {
      const answer = { bytes, headers: response.headers };
      if (Object.keys(validators(answer)).length > 0) kept.set(key, answer);
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

function validators(known: Kept | undefined): Record<string, string> {
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
