import type { GuardedFetch } from "../../base/net/guarded-fetch.ts";
import { reveal, type Secret } from "../../base/safety/known-secrets.ts";
import { createAccessTokens } from "../access-token.ts";

/** How calls authenticate to an API. */
export type OpenApiAuth =
  | {
      readonly type: "apiKey";
      readonly in: "header" | "query" | "cookie";
      readonly name: string;
      readonly value: Secret;
    }
  | { readonly type: "bearer"; readonly token: Secret }
  | { readonly type: "basic"; readonly username: string; readonly password: Secret }
  | ClientCredentials;

/** Credentials of one call, and their secret values. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly cookies: readonly (readonly [name: string, value: string])[];
  readonly secrets: readonly string[];
}

/** Provides the credentials of calls. */
export type CredentialSource = ReturnType<typeof createCredentials>;

/** Combines several ways to authenticate. */
export function createCredentials(auths: readonly OpenApiAuth[], guardedFetch: GuardedFetch, label: string) {
  const parts = auths.map((auth) => {
    if (auth.type !== "clientCredentials")
      return { get: () => toCredentials(auth, label), forget: () => false };
    const tokens = createClientCredentials(auth, guardedFetch, label);
    const get = async (signal: AbortSignal) => bearer(await tokens.get(signal));
    return { get, forget: tokens.forget };
  });
  return {
    get: async (signal: AbortSignal) => merge(await Promise.all(parts.map((part) => part.get(signal)))),
    /** Drops fetched tokens that may be stale. True if there was one. */
    forget: () => parts.map((part) => part.forget()).includes(true),
    /** Whether credentials fill in this parameter, so that it is no argument. */
    fills: (place: string, name: string) =>
      auths.some(
        (auth) =>
          auth.type === "apiKey" && auth.in === place && auth.name.toLowerCase() === name.toLowerCase(),
      ),
  };
}

async function toCredentials(
  auth: Exclude<OpenApiAuth, ClientCredentials>,
  label: string,
): Promise<Credentials> {
  if (auth.type === "bearer") return bearer(await reveal(auth.token, label));
  if (auth.type === "basic") {
    const password = await reveal(auth.password, label);
    const pair = Buffer.from(`${auth.username}:${password}`).toString("base64");
    return { ...NONE, headers: { authorization: `Basic ${pair}` }, secrets: [password, pair] };
  }
  const value = await reveal(auth.value, label);
  const { name } = auth;
  if (auth.in === "header") return { ...NONE, headers: { [name.toLowerCase()]: value }, secrets: [value] };
  return { ...NONE, [auth.in === "query" ? "query" : "cookies"]: [[name, value]], secrets: [value] };
}

const NONE: Credentials = { headers: {}, query: [], cookies: [], secrets: [] };

function bearer(token: string): Credentials {
  return { ...NONE, headers: { authorization: `Bearer ${token}` }, secrets: [token] };
}

function merge(parts: readonly Credentials[]): Credentials {
  return {
    headers: Object.assign({}, ...parts.map(({ headers }) => headers)),
    query: parts.flatMap(({ query }) => query),
    cookies: parts.flatMap(({ cookies }) => cookies),
    secrets: parts.flatMap(({ secrets }) => secrets),
  };
}

/** Credentials for the OAuth 2 client credentials grant. */
interface ClientCredentials {
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

function createClientCredentials(auth: ClientCredentials, guardedFetch: GuardedFetch, label: string) {
  return createAccessTokens({
    name: `the token endpoint of ${label}`,
    url: auth.tokenUrl,
    guardedFetch,
    now: () => performance.now(),
    lifeMs: DEFAULT_LIFE_MS,
    earlyMs: EARLY_MS,
    toRequest: async () => {
      const secret = await reveal(auth.clientSecret, label);
      const pair = `${encodeURIComponent(auth.clientId)}:${encodeURIComponent(secret)}`;
      const basic = Buffer.from(pair).toString("base64");
      return {
        fields: {
          ...auth.fields,
          grant_type: "client_credentials",
          ...(auth.scopes?.length && { scope: auth.scopes.join(" ") }),
        },
        headers: { authorization: `Basic ${basic}` },
        secrets: [secret, basic],
      };
    },
  });
}
