import type { FetchLike } from "@modelcontextprotocol/client";
import type { GuardedRequest } from "../../../base/net/dialler.ts";
import { createGuardedFetch } from "../../../base/net/guarded-fetch.ts";
import { problem } from "../../../base/problems/problem.ts";
import { knowSecrets } from "../../../base/safety/known-secrets.ts";
import { secretsIn, secretsInFields } from "../../../base/safety/secret-values.ts";
import { toVisibleText } from "../../../base/safety/visible-text.ts";
import { reasonOf } from "../../../base/util/reason-of.ts";
import { type HttpConfig, invalid, type OAuthConfig } from "../config/server-config.ts";
import { expandAll, expandVariables } from "../config/to-launch.ts";
import { type LogInOptions, logIn, renewLogin } from "./log-in.ts";
import type { Challenge, Logins } from "./logins.ts";
import { boundAnswers, type Send, toWebFetch } from "./web-fetch.ts";

export interface ServerLoginOptions {
  readonly label: string;
  readonly config: HttpConfig;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly logins: Logins;
  /** Largest answer, or event of a stream, in bytes. */
  readonly maxBytes: number;
}

/** Access to one HTTP server with its own login. Tokens of Keyhole's callers are never used. */
export interface ServerLogin {
  /** Returns the address and headers of the config. Throws if a variable is missing. */
  address(): { readonly url: URL; readonly headers: Readonly<Record<string, string>> };
  /** Returns a way to send with the token, which is renewed when it has expired or is refused. */
  sender(onTooLarge: (reason: string) => void): Send;
  /** Why the last renewal failed. */
  readonly complaint: string | undefined;
  /** The issuer of the login in use; undefined without one. */
  issuer(): Promise<string | undefined>;
  /** Whether a call was refused because the login lacks scopes. */
  missing(): Promise<boolean>;
  logIn(options: LogInOptions): Promise<void>;
  logOut(): Promise<boolean>;
  close(): Promise<void>;
}

const METADATA_BYTES = 1024 * 1024;
/** Time limit for one request to an authorization server; calls wait for it. */
const OAUTH_MS = 30_000;
const EARLY_MS = 30_000;
/** How long a token is reused without reading the store. A refused token is read again. */
const LOOK_MS = 1_000;
const BARE: OAuthConfig = { grant: "authorization_code", algorithm: "ES256", allowPrivateHosts: [] };

export function createServerLogin(options: ServerLoginOptions): ServerLogin {
  const { label, config, variables, logins, maxBytes } = options;
  let opened: OpenedLogin | undefined;
  let renewing: Promise<boolean> | undefined;
  let challenge: Challenge | undefined;
  let complaint: string | undefined;
  let secret: string | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  function open(): OpenedLogin {
    opened ??= read(label, config, variables);
    return opened;
  }

  async function currentToken(): Promise<string | undefined> {
    if (performance.now() - lookedAt < LOOK_MS) return secret;
    const { server } = open();
    const login = await logins.read(server);
    const token = login?.tokens?.access_token;
    const expired = login?.expiresAt !== undefined && login.expiresAt - EARLY_MS < Date.now();
    const renewed = expired && (await renew(token, {}));
    secret = renewed ? (await logins.read(server))?.tokens?.access_token : token;
    knowSecrets(secret === undefined ? [] : [secret]);
    lookedAt = performance.now();
    return secret;
  }

  function lookAgain(): void {
    lookedAt = Number.NEGATIVE_INFINITY;
  }

  /** Returns true if there is a new token. Runs once at a time, across processes. */
  function renew(stale: string | undefined, asked: Challenge): Promise<boolean> {
    const { url, server, oauth, oauthFetch } = open();
    renewing ??= renewLogin({ label, url, server, oauth, logins, fetch: oauthFetch }, stale, asked)
      .then((renewed) => {
        complaint = undefined;
        return renewed;
      })
      .catch((error: unknown) => {
        complaint = toVisibleText(reasonOf(error), 300);
        return false;
      })
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  }

  /** Reads the demands of a server that refused a token. */
  async function challengeOf(answer: Response): Promise<Challenge | undefined> {
    if (answer.status !== 401 && answer.status !== 403) return undefined;
    const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
    const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(answer);
    if (answer.status === 403 && error !== "insufficient_scope") return undefined;
    return {
      ...(scope !== undefined && { scope }),
      ...(resourceMetadataUrl && { resourceMetadataUrl: resourceMetadataUrl.href }),
    };
  }

  async function noteChallenge(asked: Challenge, status: number): Promise<Challenge> {
    const { computeScopeUnion } = await import("@modelcontextprotocol/client");
    const { server } = open();
    const held = status === 403 ? (await logins.read(server))?.tokens?.scope : undefined;
    const scope = computeScopeUnion(held, asked.scope);
    challenge = { ...asked, ...(scope !== undefined && { scope }) };
    // Stored, because another process may perform the login.
    if (status === 403) await logins.saveChallenge(server, challenge);
    return challenge;
  }

  return {
    address: () => open(),
    sender: (onTooLarge) => {
      const { oauth, headers, guardedFetch } = open();
      const send = boundAnswers(guardedFetch, maxBytes, onTooLarge);
      if (hasOwnCredentials(headers)) return send;
      return async (url, request) => {
        const token = await currentToken();
        const answer = await send(url, withToken(request, token));
        const asked = await challengeOf(answer);
        if (!asked) return answer;
        lookAgain();
        const wanted = await noteChallenge(asked, answer.status);
        // A renewed token has the same scopes; only the person can grant more.
        if (answer.status === 403 && oauth.grant !== "client_credentials") return answer;
        if (!(await renew(token, wanted))) return answer;
        await answer.body?.cancel();
        return send(url, withToken(request, await currentToken()));
      };
    },
    get complaint() {
      return complaint;
    },
    issuer: async () => (await logins.read(open().server))?.issuer,
    missing: async () => (await logins.challenge(open().server)) !== undefined,
    logIn: async (how) => {
      const { url, server, oauth, oauthFetch, checkUrl } = open();
      if (oauth.grant === "client_credentials") {
        const reason = "its config has credentials of its own; nobody has to log in";
        throw problem("LOGIN_FAILED", { server: label, reason }, { reason });
      }
      const sdk = await import("@modelcontextprotocol/client");
      const wanted = (await logins.challenge(server)) ?? challenge ?? {};
      const flow = { sdk, label, url, server, oauth, logins, fetch: oauthFetch, challenge: wanted, checkUrl };
      await logIn(flow, how);
      lookAgain();
      await logins.saveChallenge(server, undefined);
      challenge = undefined;
      complaint = undefined;
    },
    logOut: () => {
      lookAgain();
      return logins.forget(open().server);
    },
    close: async () => {
      await opened?.guardedFetch.close();
      opened = undefined;
    },
  };
}

type OpenedLogin = ReturnType<typeof read>;

function read(label: string, config: HttpConfig, variables: Readonly<Record<string, string | undefined>>) {
  const url = toUrl(label, expandVariables(label, config.url, variables));
  const headers = expandAll(label, config.headers, variables);
  const { clientId, clientSecret, privateKey, ...rest } = config.oauth ?? BARE;
  const oauth: OAuthConfig = {
    ...rest,
    ...expandAll(
      label,
      {
        ...(clientId && { clientId }),
        ...(clientSecret && { clientSecret }),
        ...(privateKey && { privateKey }),
      },
      variables,
    ),
  };
  const { clientSecret: own = "", privateKey: pem = "" } = oauth;
  knowSecrets([own, pem, ...secretsInFields(headers), ...secretsIn("url", url.href)]);
  // The config allows its own host. Hosts that the server names have to be public.
  const allowed = [url.hostname, ...oauth.allowPrivateHosts];
  const guardedFetch = createGuardedFetch({ allowPrivateHosts: allowed });
  const plain = toWebFetch(boundAnswers(guardedFetch, METADATA_BYTES));
  const checkUrl = (target: URL) => checkTarget(target, url, allowed);
  const oauthFetch: FetchLike = async (target, init) => {
    checkUrl(new URL(target));
    const limit = AbortSignal.timeout(OAUTH_MS);
    return plain(target, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, limit]) : limit });
  };
  return { url, headers, oauth, server: `${label} ${url.href}`, guardedFetch, oauthFetch, checkUrl };
}

/** Requires https, except for allowed hosts of a server that is itself reached over http. */
function checkTarget(target: URL, server: URL, allowed: readonly string[]): void {
  const isAllowed = allowed.includes(target.hostname) || allowed.includes(target.host);
  const plainHttp = target.protocol === "http:" && isAllowed && server.protocol === "http:";
  const reason =
    target.username || target.password
      ? "its URL carries a user name or password"
      : `${target.protocol.slice(0, -1)} is not allowed there`;
  if ((target.protocol === "https:" || plainHttp) && !target.username && !target.password) return;
  throw problem("REQUEST_REFUSED", { where: target.host || "it", reason });
}

function hasOwnCredentials(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}

function withToken(request: GuardedRequest, token: string | undefined): GuardedRequest {
  if (token === undefined) return request;
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } };
}

function toUrl(label: string, text: string): URL {
  if (!URL.canParse(text)) throw invalid(label, "its url is not a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw invalid(label, "its url is not http or https");
  return url;
}
