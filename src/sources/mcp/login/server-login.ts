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

const METADATA_BYTES = 1024 * 1024;
/** Time limit for one request to an authorization server; calls wait for it. */
const OAUTH_MS = 30_000;
const EARLY_MS = 30_000;
/** How long a token is reused without reading the store. A refused token is read again. */
const LOOK_MS = 1_000;
const BARE: OAuthConfig = { grant: "authorization_code", algorithm: "ES256", allowPrivateHosts: [] };

/** Access to one HTTP server with its own login. Tokens of Keyhole's callers are never used. */
export class ServerLogin {
  private readonly options: ServerLoginOptions;
  private opened: OpenedLogin | undefined;
  private renewing: Promise<boolean> | undefined;
  private challenge: Challenge | undefined;
  /** Why the last renewal failed. */
  complaint: string | undefined;
  private secret: string | undefined;
  private lookedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ServerLoginOptions) {
    this.options = options;
  }

  /** Returns the address and headers of the config. Throws if a variable is missing. */
  address(): Pick<OpenedLogin, "url" | "headers"> {
    return this.open();
  }

  /** Returns a way to send with the token, which is renewed when it has expired or is refused. */
  sender(onTooLarge: (reason: string) => void): Send {
    const { oauth, headers, guardedFetch } = this.open();
    const send = boundAnswers(guardedFetch, this.options.maxBytes, onTooLarge);
    if (hasOwnCredentials(headers)) return send;
    return async (url, request) => {
      const token = await this.currentToken();
      const answer = await send(url, withToken(request, token));
      const asked = await this.challengeOf(answer);
      if (!asked) return answer;
      this.lookAgain();
      const wanted = await this.noteChallenge(asked, answer.status);
      // A renewed token has the same scopes; only the person can grant more.
      if (answer.status === 403 && oauth.grant !== "client_credentials") return answer;
      if (!(await this.renew(token, wanted))) return answer;
      await answer.body?.cancel();
      return send(url, withToken(request, await this.currentToken()));
    };
  }

  /** The issuer of the login in use; undefined without one. */
  async issuer(): Promise<string | undefined> {
    return (await this.options.logins.read(this.open().server))?.issuer;
  }

  /** Whether a call was refused because the login lacks scopes. */
  async missing(): Promise<boolean> {
    return (await this.options.logins.challenge(this.open().server)) !== undefined;
  }

  async logIn(how: LogInOptions): Promise<void> {
    const { server, oauth } = this.open();
    if (oauth.grant === "client_credentials") {
      const reason = "its config has credentials of its own; nobody has to log in";
      throw problem("LOGIN_FAILED", { server: this.options.label, reason }, { reason });
    }
    const { logIn } = await import("./log-in.ts");
    await logIn(this.open(), (await this.options.logins.challenge(server)) ?? this.challenge ?? {}, how);
    this.lookAgain();
    await this.options.logins.saveChallenge(server, undefined);
    this.challenge = undefined;
    this.complaint = undefined;
  }

  async logOut(): Promise<boolean> {
    this.lookAgain();
    return this.options.logins.forget(this.open().server);
  }

  async close(): Promise<void> {
    await this.opened?.guardedFetch.close();
    this.opened = undefined;
  }

  private open(): OpenedLogin {
    this.opened ??= read(this.options);
    return this.opened;
  }

  private async currentToken(): Promise<string | undefined> {
    if (performance.now() - this.lookedAt < LOOK_MS) return this.secret;
    const { server } = this.open();
    const login = await this.options.logins.read(server);
    const token = login?.tokens?.access_token;
    const expired = login?.expiresAt !== undefined && login.expiresAt - EARLY_MS < Date.now();
    const renewed = expired && (await this.renew(token, {}));
    this.secret = renewed ? (await this.options.logins.read(server))?.tokens?.access_token : token;
    knowSecrets(this.secret === undefined ? [] : [this.secret]);
    this.lookedAt = performance.now();
    return this.secret;
  }

  private lookAgain(): void {
    this.lookedAt = Number.NEGATIVE_INFINITY;
  }

  /** Returns true if there is a new token. Runs once at a time, across processes. */
  private renew(stale: string | undefined, asked: Challenge): Promise<boolean> {
    this.renewing ??= this.renewNow(stale, asked).finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  private async renewNow(stale: string | undefined, asked: Challenge): Promise<boolean> {
    try {
      const { renewLogin } = await import("./log-in.ts");
      const renewed = await renewLogin(this.open(), stale, asked);
      this.complaint = undefined;
      return renewed;
    } catch (error) {
      this.complaint = toVisibleText(reasonOf(error), 300);
      return false;
    }
  }

  /** Reads the demands of a server that refused a token. */
  private async challengeOf(answer: Response): Promise<Challenge | undefined> {
    if (answer.status !== 401 && answer.status !== 403) return undefined;
    const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
    const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(answer);
    if (answer.status === 403 && error !== "insufficient_scope") return undefined;
    return { scope, resourceMetadataUrl: resourceMetadataUrl?.href };
  }

  private async noteChallenge(asked: Challenge, status: number): Promise<Challenge> {
    const { computeScopeUnion } = await import("@modelcontextprotocol/client");
    const { server } = this.open();
    const held = status === 403 ? (await this.options.logins.read(server))?.tokens?.scope : undefined;
    this.challenge = { ...asked, scope: computeScopeUnion(held, asked.scope) };
    // Stored, because another process may perform the login.
    if (status === 403) await this.options.logins.saveChallenge(server, this.challenge);
    return this.challenge;
  }
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
