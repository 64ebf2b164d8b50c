import type { GuardedFetch } from "../base/net/guarded-fetch.ts";
import { readBytes, readValue } from "../base/net/read-response.ts";
import { statusProblem } from "../base/net/status-problem.ts";
import { problem } from "../base/problems/problem.ts";
import { createRedact } from "../base/safety/redact.ts";
import { field } from "../base/util/plain-object.ts";
import { singleFlight } from "../base/util/single-flight.ts";

/** A request for an access token: its form fields, and the secrets among them. */
export interface TokenRequest {
  readonly fields: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

export interface TokenEndpoint {
  /** Name for problems. */
  readonly name: string;
  readonly url: string;
  readonly guardedFetch: GuardedFetch;
  now(): number;
  /** Lifetime of a token whose answer does not say it. */
  readonly lifeMs: number;
  /** A token is renewed this long before it expires. */
  readonly earlyMs: number;
  toRequest(): Promise<TokenRequest>;
  /** Turns an error answer into a problem. Default: {@link statusProblem}. */
  toProblem?: typeof statusProblem;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

/**
 * Gets access tokens from an OAuth 2 endpoint, one request at a time, and reuses each until shortly before it expires.
 */
export function createAccessTokens(endpoint: TokenEndpoint) {
  const { now, earlyMs } = endpoint;
  let held: { readonly token: string; readonly until: number } | undefined;

  const renew = singleFlight(async () => {
    const { token, lifeMs } = await requestToken(endpoint);
    held = { token, until: now() + Math.max(0, lifeMs - earlyMs) };
    return token;
  });

  return {
    /** Callers share the request: a signal ends only its own caller's wait. */
    get: async (signal: AbortSignal): Promise<string> =>
      held && now() < held.until ? held.token : renew(signal),
    /** Drops a token that may be stale. Returns false if there was none. */
    forget: (): boolean => {
      const had = held !== undefined;
      held = undefined;
      return had;
    },
  };
}

async function requestToken({ name, url, guardedFetch, ...endpoint }: TokenEndpoint) {
  const { fields, headers, secrets } = await endpoint.toRequest();
  const response = await guardedFetch(url, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/x-www-form-urlencoded",
      accept: "application/json",
    },
    body: new URLSearchParams(fields).toString(),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const value = readValue(response, await readBytes(response, name, MAX_BYTES));
  const { toProblem = statusProblem } = endpoint;
  if (!response.ok) throw toProblem(name, response, createRedact(secrets)(value));
  const token = field(value, "access_token");
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
    throw problem("LOGIN_NEEDED", { name, status: response.status, reason: "it gave no access token." });
  const seconds = Number(field(value, "expires_in"));
  return { token, lifeMs: seconds > 0 ? seconds * 1000 : endpoint.lifeMs };
}
