import type { GuardedFetch } from "../../net/guarded-fetch.ts";
import { readBytes, readValue } from "../../net/read-response.ts";
import { reveal, type Secret } from "../../net/secret.ts";
import { statusProblem } from "../../net/status-problem.ts";
import { problem } from "../../schema/problem.ts";
import { field } from "../../util/fields.ts";
import { createRedact } from "../../util/redact.ts";
import { untilAborted } from "../../util/until-aborted.ts";

/** Credentials for the OAuth 2 client credentials grant. */
export interface ClientCredentials {
  readonly type: "clientCredentials";
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly scopes?: readonly string[];
  /** Further fields of the token request, such as `audience`. */
  readonly fields?: Readonly<Record<string, string>>;
}

const EARLY_MS = 30_000;
const DEFAULT_LIFE_MS = 5 * 60_000;
const TOKEN_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

/** Fetches tokens by the OAuth 2 client credentials grant, one request at a time, and keeps each until it is about to expire. */
export function createClientCredentials(auth: ClientCredentials, guardedFetch: GuardedFetch, label: string) {
  let held: { readonly token: string; readonly until: number } | undefined;
  let asking: Promise<string> | undefined;

  async function ask(): Promise<string> {
    const { token, lifeMs } = await requestToken(auth, guardedFetch, label);
    held = { token, until: performance.now() + Math.max(0, lifeMs - EARLY_MS) };
    return token;
  }

  return {
    /** Callers share the request, so a signal ends only its own caller's wait. */
    get: async (signal: AbortSignal): Promise<string> => {
      if (held && performance.now() < held.until) return held.token;
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return untilAborted(asking, signal);
    },
    forget: (): boolean => {
      const had = held !== undefined;
      held = undefined;
      return had;
    },
  };
}

async function requestToken(auth: ClientCredentials, guardedFetch: GuardedFetch, label: string) {
  const secret = await reveal(auth.clientSecret, label);
  const pair = `${encodeURIComponent(auth.clientId)}:${encodeURIComponent(secret)}`;
  const basic = Buffer.from(pair).toString("base64");
  const body = new URLSearchParams({
    ...auth.fields,
    grant_type: "client_credentials",
    ...(auth.scopes?.length && { scope: auth.scopes.join(" ") }),
  });
  const response = await guardedFetch(auth.tokenUrl, {
    method: "POST",
    headers: {
      authorization: `Basic ${basic}`,
      "content-type": "application/x-www-form-urlencoded",
      accept: "application/json",
    },
    body: body.toString(),
    signal: AbortSignal.timeout(TOKEN_MS),
  });
  const name = `the token endpoint of ${label}`;
  const value = readValue(response, await readBytes(response, name, MAX_BYTES));
  if (!response.ok) throw statusProblem(name, response, createRedact([secret, basic])(value));
  const token = field(value, "access_token");
  if (typeof token !== "string" || token === "" || /\p{Cc}/u.test(token)) {
    throw problem("LOGIN_NEEDED", { name, status: response.status, reason: "it gave no access token." });
  }
  const seconds = Number(field(value, "expires_in"));
  return { token, lifeMs: seconds > 0 ? seconds * 1000 : DEFAULT_LIFE_MS };
}
