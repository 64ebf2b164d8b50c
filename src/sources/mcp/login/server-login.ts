import type { FetchLike } from "@modelcontextprotocol/client";
import type { GuardedRequest } from "../../../base/net/dialler.ts";
import { createGuardedFetch } from "../../../base/net/guarded-fetch.ts";
import { problem } from "../../../base/problems/problem.ts";
import { knowSecrets } from "../../../base/safety/known-secrets.ts";
import { secretsIn, secretsInFields } from "../../../base/safety/secret-values.ts";
import { toVisibleText } from "../../../base/safety/visible-text.ts";
import { reasonOf } from "../../../base/util/reason-of.ts";
import {
  fillPersonValues,
  type HttpConfig,
  invalid,
  type OAuthConfig,
  personNamesIn,
} from "../config/server-config.ts";
import { expandAll, expandVariables, type LaunchVariables } from "../config/to-launch.ts";
import type { BegunLogin } from "./client-provider.ts";
import type { ExchangeOptions } from "./exchange-token.ts";
import type { LogInOptions } from "./log-in.ts";
import type { Challenge, Logins } from "./logins.ts";
import { boundAnswers, type Send, toWebFetch } from "./web-fetch.ts";

interface ServerLoginOptions {
  readonly label: string;
  readonly config: HttpConfig;
  readonly variables: LaunchVariables;
  readonly logins: Logins;
  /** The person of this login. Default: everyone who uses the gateway shares it. */
  readonly person?: string | undefined;
  /** The issuer of people's tokens, and Keyhole's client there. */
  readonly exchange?: ExchangeOptions | undefined;
  /** Largest answer, or event of a stream, in bytes. */
  readonly maxBytes: number;
}

/** The person who runs the gateway. Their login, by `keyhole login`, lists servers. */
export const OPERATOR = "local";

const METADATA_BYTES = 1024 * 1024;
/** Time limit for one request to an authorization server; calls wait for it. */
const OAUTH_MS = 30_000;
const EARLY_MS = 30_000;
/** How long a token is reused without reading the store. A refused token is read again at once. */
const LOOK_MS = 1_000;
const BARE: OAuthConfig = { grant: "authorization_code", algorithm: "ES256", allowPrivateHosts: [] };

/** Access to one HTTP server with its own login. Never sends tokens of Keyhole's callers. */
export class ServerLogin {
  private readonly options: ServerLoginOptions;
  private opened: OpenedLogin | undefined;
  private renewing: Promise<boolean> | undefined;
  private challenge: Challenge | undefined;
  /** Why the last renewal failed. */
  complaint: string | undefined;
  private secret: string | undefined;
  private lookedAt = Number.NEGATIVE_INFINITY;
  private readonly logins: Logins;
  /** The token or the values that the server refused last. */
  private refused: string | undefined;
  /** The person's own token, which is exchanged for one of the server's and never sent there. */
  private subject: string | undefined;
  private exchanged: { readonly token: string; readonly until: number } | undefined;

  constructor(options: ServerLoginOptions) {
    this.options = options;
    const { logins, person } = options;
    this.logins = person === undefined ? logins : logins.of(person);
  }

  /** Key of the server in the store of logins. */
  get server(): string {
    return this.open().server;
  }

  /** Names of the values that a person enters instead of a login. */
  get fields(): readonly string[] {
    return personNamesIn(this.options.config.headers);
  }

  /** Whether an issuer exchanges the token. */
  get isExchanged(): boolean {
    return this.options.config.login === "exchange" && this.options.person !== OPERATOR;
  }

  /** Sets the caller's token, to be exchanged. */
  exchangeFor(subject: string | undefined): void {
    this.subject = subject;
  }

  /** Address and headers from the config. Throws if a variable is missing. */
  address(): Pick<OpenedLogin, "url" | "headers"> {
    return this.open();
  }

  /** Returns a function that sends with the token, and renews it when it has expired or is refused. */
  sender(onTooLarge: (reason: string) => void): Send {
    const { oauth, headers, personHeaders, guardedFetch } = this.open();
    const send = boundAnswers(guardedFetch, this.options.maxBytes, onTooLarge);
    if (Object.keys(personHeaders).length > 0) return this.valueSender(send);
    if (hasOwnCredentials(headers)) return send;
    return async (url, request) => {
      const token = await this.currentToken();
      const answer = await send(url, withToken(request, token));
      const asked = await this.challengeOf(answer);
      if (!asked) return answer;
      this.lookAgain();
      this.refused = token;
      const challenge = await this.noteChallenge(asked, answer.status);
      // A renewed token has the same scopes; only the person can grant more.
      if (answer.status === 403 && oauth.grant !== "client_credentials" && !this.isExchanged) return answer;
      if (!(await this.renew(token, challenge))) return answer;
      await answer.body?.cancel();
      return send(url, withToken(request, await this.currentToken()));
    };
  }

  /** Sends with the person's values. */
  private valueSender(send: Send): Send {
    const { personHeaders } = this.open();
    return async (url, request) => {
      const values = await this.logins.values(this.server);
      if (!values) return send(url, request);
      knowSecrets(Object.values(values));
      const filled = Object.entries(personHeaders).map(([name, text]) => [
        name,
        fillPersonValues(text, values),
      ]);
      const answer = await send(url, {
        ...request,
        headers: { ...request.headers, ...Object.fromEntries(filled) },
      });
      if (answer.status === 401) this.refused = JSON.stringify(values);
      return answer;
    };
  }

  /** The issuer of the current login; undefined without one. */
  async issuer(): Promise<string | undefined> {
    return (await this.logins.read(this.server))?.issuer;
  }

  /** Whether a call was refused because the login lacks scopes. */
  async missing(): Promise<boolean> {
    return (await this.logins.challenge(this.server)) !== undefined;
  }

  async logIn(how: LogInOptions): Promise<void> {
    const { logIn } = await import("./log-in.ts");
    await logIn(this.openForPerson(), await this.wanted(), how);
    await this.noteLogin();
  }

  /** Begins a login whose answer arrives at another address. @throws LOGIN_FAILED */
  async begin(how: { readonly redirectUrl: string; readonly state: string }) {
    const { beginLogin } = await import("./log-in.ts");
    return beginLogin(this.openForPerson(), await this.wanted(), how);
  }

  /** Completes a login, possibly begun in another process. @throws LOGIN_FAILED */
  async finish(
    begun: BegunLogin,
    how: { readonly redirectUrl: string; readonly answer: URLSearchParams },
  ): Promise<void> {
    const { finishLogin } = await import("./log-in.ts");
    await finishLogin(this.openForPerson(), await this.wanted(), begun, how);
    await this.noteLogin();
  }

  /** Stores the values that a person enters instead of a login. */
  async give(values: Readonly<Record<string, string>>): Promise<void> {
    await this.logins.saveValues(this.server, values);
    await this.noteLogin();
  }

  /** Whether a login exists that the server has not refused; `withScopes`: and that has the scopes last wanted. */
  async isReady(withScopes = false): Promise<boolean> {
    if (this.isExchanged) return this.subject !== undefined;
    const { values, read } = this.logins;
    const personValues = this.fields.length > 0 ? JSON.stringify(await values(this.server)) : undefined;
    const secret = personValues ?? (await read(this.server))?.tokens?.access_token;
    if (secret === undefined || secret === this.refused) return false;
    return !withScopes || !(await this.missing());
  }

  /** When the person logged in, in milliseconds since 1970. */
  since(): Promise<number | undefined> {
    return this.logins.since(this.server);
  }

  async logOut(): Promise<boolean> {
    this.lookAgain();
    this.exchanged = undefined;
    return this.logins.forget(this.server);
  }

  async close(): Promise<void> {
    await this.opened?.guardedFetch.close();
    this.opened = undefined;
  }

  private open(): OpenedLogin {
    this.opened ??= read(this.options);
    return this.opened;
  }

  /** @throws LOGIN_FAILED if people do not log in with OAuth here. */
  private openForPerson(): OpenedLogin {
    const opened = this.open();
    const takesValues = this.fields.length > 0;
    if (opened.oauth.grant !== "client_credentials" && !takesValues) return opened;
    const reason = takesValues
      ? `each person gives ${this.fields.join(", ")} on the page that a call answers with`
      : "its config has credentials of its own; nobody has to log in";
    throw problem("LOGIN_FAILED", { server: this.options.label, reason }, { reason });
  }

  private async wanted(): Promise<Challenge> {
    return (await this.logins.challenge(this.server)) ?? this.challenge ?? {};
  }

  private async noteLogin(): Promise<void> {
    this.lookAgain();
    await this.logins.saveChallenge(this.server, undefined);
    this.challenge = undefined;
    this.complaint = undefined;
  }

  private async currentToken(): Promise<string | undefined> {
    if (this.isExchanged) return this.exchangedToken();
    if (performance.now() - this.lookedAt < LOOK_MS) return this.secret;
    const { server } = this.open();
    const login = await this.logins.read(server);
    const token = login?.tokens?.access_token;
    const expired = login?.expiresAt !== undefined && login.expiresAt - EARLY_MS < Date.now();
    const renewed = expired && (await this.renew(token, {}));
    this.secret = renewed ? (await this.logins.read(server))?.tokens?.access_token : token;
    knowSecrets(this.secret === undefined ? [] : [this.secret]);
    this.lookedAt = performance.now();
    return this.secret;
  }

  private async exchangedToken(): Promise<string | undefined> {
    if (!this.exchanged || this.exchanged.until < Date.now()) await this.renew(undefined, {});
    return this.exchanged?.token;
  }

  private lookAgain(): void {
    this.lookedAt = Number.NEGATIVE_INFINITY;
  }

  /** True if there is a new token. Runs once at a time, across processes. */
  private renew(stale: string | undefined, asked: Challenge): Promise<boolean> {
    this.renewing ??= this.renewNow(stale, asked).finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  private async renewNow(stale: string | undefined, asked: Challenge): Promise<boolean> {
    try {
      if (this.isExchanged) return await this.exchangeNow(asked);
      const { renewLogin } = await import("./log-in.ts");
      const renewed = await renewLogin(this.open(), stale, asked);
      this.complaint = undefined;
      return renewed;
    } catch (error) {
      this.complaint = toVisibleText(reasonOf(error), 300);
      return false;
    }
  }

  private async exchangeNow({ scope }: Challenge): Promise<boolean> {
    const { exchangeToken } = await import("./exchange-token.ts");
    const { token, expiresAt } = await exchangeToken(this.open(), this.subject, scope);
    knowSecrets([token]);
    this.exchanged = { token, until: expiresAt - EARLY_MS };
    this.complaint = undefined;
    return true;
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
    const held = status === 403 ? (await this.logins.read(server))?.tokens?.scope : undefined;
    this.challenge = { ...asked, scope: computeScopeUnion(held, asked.scope) };
    // Stored, because another process may perform the login.
    if (status === 403 && !this.isExchanged) await this.logins.saveChallenge(server, this.challenge);
    return this.challenge;
  }
}

type OpenedLogin = ReturnType<typeof read>;

function read({ label, config, variables, logins, person, exchange }: ServerLoginOptions) {
  const expand = (text: string) => expandVariables(label, text, variables);
  const url = toUrl(label, expand(config.url));
  const isOfPerson = ([, text]: [string, string]) => personNamesIn({ text }).length > 0;
  const configured = Object.entries(config.headers);
  const headers = expandAll(
    label,
    Object.fromEntries(configured.filter((header) => !isOfPerson(header))),
    variables,
  );
  const personHeaders = Object.fromEntries(configured.filter(isOfPerson));
  const declared = config.oauth ?? BARE;
  const { clientId, clientSecret, privateKey } = declared;
  const oauth: OAuthConfig = {
    ...declared,
    clientId: clientId && expand(clientId),
    clientSecret: clientSecret && expand(clientSecret),
    privateKey: privateKey && expand(privateKey),
  };
  const secrets = [oauth.clientSecret ?? "", oauth.privateKey ?? ""];
  knowSecrets([...secrets, ...secretsInFields(headers), ...secretsIn("url", url.href)]);
  // The config allows its own host. Hosts that the server names must be public.
  const issuer = oauth.issuer ?? exchange?.issuer;
  const issuerHosts = issuer === undefined ? [] : [new URL(issuer).hostname];
  const allowed = [url.hostname, ...issuerHosts, ...oauth.allowPrivateHosts];
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
    personHeaders,
    oauth,
    logins: person === undefined ? logins : logins.of(person),
    ...(person !== undefined && { clients: logins }),
    exchange,
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
