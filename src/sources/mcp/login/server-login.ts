import type { FetchLike } from "@modelcontextprotocol/client";
import type { GuardedRequest } from "../../../base/net/dialler.ts";
import { createGuardedFetch } from "../../../base/net/guarded-fetch.ts";
import { problem } from "../../../base/problems/problem.ts";
import { knowSecrets } from "../../../base/safety/known-secrets.ts";
import { secretsIn, secretsInFields } from "../../../base/safety/secret-values.ts";
import { toVisibleText } from "../../../base/safety/visible-text.ts";
import { reasonOf } from "../../../base/util/reason-of.ts";
import { type HttpConfig, invalid, type OAuthConfig } from "../config/server-config.ts";
import { expandAll, expandVariables, type LaunchVariables } from "../config/to-launch.ts";
import type { LogInOptions } from "./log-in.ts";
import type { Challenge, Logins } from "./logins.ts";
import { boundAnswers, type Send, toWebFetch } from "./web-fetch.ts";

interface ServerLoginOptions {
  readonly label: string;
  readonly config: HttpConfig;
  readonly variables: LaunchVariables;
  readonly logins: Logins;
  /** Largest answer, or event of a stream, in bytes. */
  readonly maxBytes: number;
}

export type ServerLogin = ReturnType<typeof createServerLogin>;

const METADATA_BYTES = 1024 * 1024;
/** Time limit for one request to an authorization server; calls wait for it. */
const OAUTH_MS = 30_000;
const EARLY_MS = 30_000;
/** How long a token is reused without reading the store. A refused token is read again. */
const LOOK_MS = 1_000;
const BARE: OAuthConfig = { grant: "authorization_code", algorithm: "ES256", allowPrivateHosts: [] };

/** Access to one HTTP server with its own login. Tokens of Keyhole's callers are never used. */
export function createServerLogin(options: ServerLoginOptions) {
  const { label, logins, maxBytes } = options;
  let opened: OpenedLogin | undefined;
  let renewing: Promise<boolean> | undefined;
  let challenge: Challenge | undefined;
  let complaint: string | undefined;
  let secret: string | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  function open(): OpenedLogin {
    opened ??= read(options);
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
    renewing ??= renewNow(stale, asked).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function renewNow(stale: string | undefined, asked: Challenge): Promise<boolean> {
    try {
      const { renewLogin } = await import("./log-in.ts");
      const renewed = await renewLogin(open(), stale, asked);
      complaint = undefined;
      return renewed;
    } catch (error) {
      complaint = toVisibleText(reasonOf(error), 300);
      return false;
    }
  }

  /** Reads the demands of a server that refused a token. */
  async function challengeOf(answer: Response): Promise<Challenge | undefined> {
    if (answer.status !== 401 && answer.status !== 403) return undefined;
    const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
    const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(answer);
    if (answer.status === 403 && error !== "insufficient_scope") return undefined;
    return { scope, resourceMetadataUrl: resourceMetadataUrl?.href };
  }

  async function noteChallenge(asked: Challenge, status: number): Promise<Challenge> {
    const { computeScopeUnion } = await import("@modelcontextprotocol/client");
    const { server } = open();
    const held = status === 403 ? (await logins.read(server))?.tokens?.scope : undefined;
    challenge = { ...asked, scope: computeScopeUnion(held, asked.scope) };
    // Stored, because another process may perform the login.
    if (status === 403) await logins.saveChallenge(server, challenge);
    return challenge;
  }

  return {
    /** Returns the address and headers of the config. Throws if a variable is missing. */
    address: (): Pick<OpenedLogin, "url" | "headers"> => open(),
    /** Returns a way to send with the token, which is renewed when it has expired or is refused. */
    sender: (onTooLarge: (reason: string) => void): Send => {
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
    /** Why the last renewal failed. */
    get complaint() {
      return complaint;
    },
    /** The issuer of the login in use; undefined without one. */
    issuer: async () => (await logins.read(open().server))?.issuer,
    /** Whether a call was refused because the login lacks scopes. */
    missing: async () => (await logins.challenge(open().server)) !== undefined,
    logIn: async (how: LogInOptions): Promise<void> => {
      const { server, oauth } = open();
      if (oauth.grant === "client_credentials") {
        const reason = "its config has credentials of its own; nobody has to log in";
        throw problem("LOGIN_FAILED", { server: label, reason }, { reason });
      }
      const { logIn } = await import("./log-in.ts");
      await logIn(open(), (await logins.challenge(server)) ?? challenge ?? {}, how);
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

function read({ label, config, variables, logins }: ServerLoginOptions) {
  const expand = (text: string) => expandVariables(label, text, variables);
  const url = toUrl(label, expand(config.url));
  const headers = expandAll(label, config.headers, variables);
  const given = config.oauth ?? BARE;
  const { clientId, clientSecret, privateKey } = given;
  const oauth: OAuthConfig = {
    ...given,
    clientId: clientId && expand(clientId),
    clientSecret: clientSecret && expand(clientSecret),
    privateKey: privateKey && expand(privateKey),
  };
  const secrets = [oauth.clientSecret ?? "", oauth.privateKey ?? ""];
  knowSecrets([...secrets, ...secretsInFields(headers), ...secretsIn("url", url.href)]);
  // The config allows its own host. Hosts that the server names have to be public.
  const allowed = [url.hostname, ...oauth.allowPrivateHosts];
  const guardedFetch = createGuardedFetch({ allowPrivateHosts: allowed });
  const plain = toWebFetch(boundAnswers(guardedFetch, METADATA_BYTES));
  const checkUrl = (target: URL) => checkTarget(target, url, allowed);
  const fetch: FetchLike = async (target, init) => {
    checkUrl(new URL(target));
    const limit = AbortSignal.timeout(OAUTH_MS);
    return plain(target, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, limit]) : limit });
  };
  return {
    label,
    url,
    headers,
    oauth,
    logins,
    server: `${label} ${url.href}`,
    guardedFetch,
    fetch,
    checkUrl,
  };
}

/** Requires https, except for allowed hosts of a server that is itself reached over http. */
function checkTarget(target: URL, server: URL, allowed: readonly string[]): void {
  const isAllowed = allowed.includes(target.hostname) || allowed.includes(target.host);
  const plainHttp = target.protocol === "http:" && isAllowed && server.protocol === "http:";
  const hasLogin = target.username !== "" || target.password !== "";
  if ((target.protocol === "https:" || plainHttp) && !hasLogin) return;
  const scheme = target.protocol.slice(0, -1);
  const reason = hasLogin ? "its URL carries a user name or password" : `${scheme} is not allowed there`;
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
