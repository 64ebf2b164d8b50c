import { createGuardedFetch } from "../../../net/guarded-fetch.ts";
import { readBytes, readValue } from "../../../net/read-response.ts";
import { reveal, SEVERAL_LINES, type Secret } from "../../../net/secret.ts";
import { statusProblem } from "../../../net/status-problem.ts";
import { problem } from "../../../schema/problem.ts";
import type { Clock } from "../../../util/clock.ts";
import { field } from "../../../util/fields.ts";
import { createRedact } from "../../../util/redact.ts";
import type { HttpAuth } from "./http-auth.ts";

/** Fields of a service account's key file. */
export interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: Secret;
  readonly private_key_id?: string;
  readonly token_uri?: string;
}

export interface GoogleAuthOptions {
  readonly account: ServiceAccount;
  readonly scope: string;
  /** Person to impersonate, if the Workspace domain allows it. */
  readonly subject?: string | undefined;
  readonly allowPrivateHosts: readonly string[];
  readonly clock: Clock;
}

const TOKEN_URI = "https://oauth2.googleapis.com/token";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const LIFE_SECONDS = 3600;
const EARLY_MS = 60_000;
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

/** Gets access tokens for a service account by a signed claim, and reuses them until they expire. */
export function createGoogleAuth(name: string, options: GoogleAuthOptions): HttpAuth {
  const { clock } = options;
  const guardedFetch = createGuardedFetch({ allowPrivateHosts: options.allowPrivateHosts });
  let held: { readonly token: string; readonly until: number } | undefined;
  let asking: Promise<string> | undefined;

  async function ask(): Promise<string> {
    const assertion = await sign(name, options);
    const response = await guardedFetch(options.account.token_uri ?? TOKEN_URI, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: new URLSearchParams({ grant_type: GRANT, assertion }).toString(),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const value = readValue(response, await readBytes(response, name, MAX_BYTES));
    if (!response.ok) throw refused(name, response, createRedact([assertion])(value));
    const token = field(value, "access_token");
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
      throw problem("LOGIN_NEEDED", { name, status: response.status, reason: "it gave no access token." });
    const seconds = Number(field(value, "expires_in"));
    held = { token, until: clock.now() + (seconds > 0 ? seconds * 1000 : EARLY_MS) - EARLY_MS };
    return token;
  }

  return {
    get: async () => {
      const known = held && clock.now() < held.until ? held.token : undefined;
      asking ??= known === undefined ? ask().finally(() => (asking = undefined)) : undefined;
      const token = known ?? (await asking!);
      return { headers: { authorization: `Bearer ${token}` }, secrets: [token] };
    },
    forget: () => {
      const had = held !== undefined;
      held = undefined;
      return had;
    },
  };
}

async function sign(name: string, { account, scope, subject, clock }: GoogleAuthOptions): Promise<string> {
  const pem = await reveal(account.private_key, name, SEVERAL_LINES);
  const now = Math.floor(clock.now() / 1000);
  try {
    const { importPKCS8, SignJWT } = await import("jose");
    const key = await importPKCS8(pem.replaceAll("\\n", "\n"), "RS256");
    return await new SignJWT({ scope, ...(subject && { sub: subject }) })
      .setProtectedHeader({
        alg: "RS256",
        typ: "JWT",
        ...(account.private_key_id && { kid: account.private_key_id }),
      })
      .setIssuer(account.client_email)
      .setAudience(account.token_uri ?? TOKEN_URI)
      .setIssuedAt(now)
      .setExpirationTime(now + LIFE_SECONDS)
      .sign(key);
  } catch {
    const reason = "its private key cannot be read; PKCS #8 in PEM is needed.";
    throw problem("LOGIN_NEEDED", { name, status: "nothing", reason });
  }
}

/** Google answers 400 to a rejected claim, which means that the login failed. */
function refused(name: string, response: Parameters<typeof statusProblem>[1], value: unknown) {
  if (response.status !== 400) return statusProblem(name, response, value);
  const reason = String(field(value, "error_description") ?? field(value, "error") ?? "no reason given");
  return problem("LOGIN_NEEDED", { name, status: 400, reason });
}
