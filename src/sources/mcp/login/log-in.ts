import { randomBytes } from "node:crypto";
import type { FetchLike } from "@modelcontextprotocol/client";
import { isProblem, type Problem, problem } from "../../../base/problems/problem.ts";
import { toVisibleText } from "../../../base/safety/visible-text.ts";
import { reasonOf } from "../../../base/util/reason-of.ts";
import type { OAuthConfig } from "../config/server-config.ts";
import type { Callback } from "./callback.ts";
import {
  clientAuthentication,
  createClientProvider,
  type ProviderOptions,
  toLogin,
} from "./client-provider.ts";
import type { Challenge, KeptLogin, Logins } from "./logins.ts";

/** Options of `source.logIn()`. The person opens the address; the answer comes to a local port. */
export interface LogInOptions {
  /** Shows the login address, which was checked, to the person. */
  onUrl(url: URL): void | Promise<void>;
  readonly signal?: AbortSignal;
  /** Time limit for the person, in milliseconds. Default: five minutes. */
  readonly timeoutMs?: number;
}

interface Flow extends ProviderOptions {
  readonly url: URL;
  readonly fetch: FetchLike;
  readonly challenge: Challenge;
  /** Throws if a person must not be sent to this address. */
  checkUrl(url: URL): void;
}

const TIMEOUT_MS = 5 * 60_000;
const REASON_CHARS = 300;
/** Error codes of RFC 6749. Other text is not shown. */
const ERROR_CODE = /^[a-z_]{1,40}$/;

/** Lets a person log in and stores the tokens. Throws LOGIN_FAILED. */
export async function logIn(
  flow: Flow,
  { onUrl, signal, timeoutMs = TIMEOUT_MS }: LogInOptions,
): Promise<void> {
  const { sdk, url, fetch: fetchFn, challenge, label } = flow;
  const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  const state = randomBytes(32).toString("base64url");
  const callback = await listen(flow, state);
  const provider = createClientProvider(flow, {
    redirectUrl: callback.redirectUrl,
    state,
    onUrl: async (address) => {
      flow.checkUrl(address);
      await onUrl(address);
    },
  });
  const request = {
    serverUrl: url,
    fetchFn,
    ...(challenge.resourceMetadataUrl && { resourceMetadataUrl: new URL(challenge.resourceMetadataUrl) }),
  };
  try {
    const scope = sdk.computeScopeUnion(challenge.scope, flow.oauth.scopes?.join(" "));
    await sdk.auth(provider, { ...request, ...(scope && { scope }), forceReauthorization: true });
    const answer = await callback.answer(limit);
    const iss = answer.get("iss") ?? undefined;
    const authorizationCode = answer.get("code");
    if (authorizationCode === null) throw refusal(label, answer);
    await sdk.auth(provider, { ...request, authorizationCode, ...(iss !== undefined && { iss }) });
  } catch (error) {
    throw toProblem(label, error, limit.aborted);
  } finally {
    await callback.close();
  }
}

/** Reuses the port of an earlier registration, so that the registration stays valid. */
async function listen({ oauth, logins, server, label }: Flow, state: string): Promise<Callback> {
  // Loaded only for a login, because it would slow down the start.
  const { openCallback } = await import("./callback.ts");
  if (oauth.callbackPort !== undefined) {
    return openCallback(state, oauth.callbackPort).catch((error: unknown) => {
      throw toProblem(label, error, false);
    });
  }
  const client = (await logins.read(server))?.client;
  const uri = client && "redirect_uris" in client ? client.redirect_uris[0] : undefined;
  const port = Number(uri === undefined ? 0 : (URL.parse(String(uri))?.port ?? 0));
  return openCallback(state, port).catch(() => openCallback(state));
}

function refusal(label: string, answer: URLSearchParams): Problem {
  const code = answer.get("error") ?? "";
  const reason = `it was refused${ERROR_CODE.test(code) ? ` (${code})` : ""}`;
  return problem("LOGIN_FAILED", { server: label, reason }, { reason });
}

/** In a mix-up attack the attacker writes the answer, so it is not repeated. */
function toProblem(label: string, error: unknown, ended: boolean): Problem {
  if (isProblem(error)) return error;
  const name = error instanceof Error ? error.name : "";
  const reason = ended
    ? "nobody answered in time"
    : name === "IssuerMismatchError" || name === "AuthorizationServerMismatchError"
      ? "the answer is not from the authorization server that it was asked of"
      : toVisibleText(reasonOf(error), REASON_CHARS) || "no reason given";
  return problem("LOGIN_FAILED", { server: label, reason }, { reason });
}

interface RenewOptions {
  readonly label: string;
  readonly url: URL;
  readonly server: string;
  readonly oauth: OAuthConfig;
  readonly logins: Logins;
  readonly fetch: FetchLike;
}

/** OAuth errors that mean the login has ended, not that the server fails for a while. */
const ENDED = new Set(["invalid_grant", "invalid_client", "unauthorized_client"]);

/** Replaces the stale token. Returns false if only a person can do it. */
export async function renewLogin(
  options: RenewOptions,
  stale: string | undefined,
  challenge: Challenge,
): Promise<boolean> {
  const { server, logins, oauth } = options;
  const isOwn = oauth.grant === "client_credentials";
  const first = await logins.read(server);
  if (!isOwn && first?.tokens?.refresh_token === undefined) return isAnother(first, stale);
  const sdk = await import("@modelcontextprotocol/client");
  const provider = { ...options, sdk };
  return logins.alone(server, async () => {
    const login = await logins.read(server);
    if (isAnother(login, stale)) return true;
    if (isOwn) return requestToken(provider, options, challenge);
    return login?.tokens?.refresh_token !== undefined && refresh(provider, options, login, challenge);
  });
}

/** Another process may have renewed the token. */
function isAnother(kept: KeptLogin | undefined, stale: string | undefined): boolean {
  return kept?.tokens !== undefined && kept.tokens.access_token !== stale;
}

async function requestToken(
  provider: ProviderOptions,
  { url, fetch, oauth }: RenewOptions,
  { scope, resourceMetadataUrl }: Challenge,
): Promise<boolean> {
  const wanted = provider.sdk.computeScopeUnion(scope, oauth.scopes?.join(" "));
  const result = await provider.sdk.auth(createClientProvider(provider), {
    serverUrl: url,
    fetchFn: fetch,
    ...(wanted && { scope: wanted }),
    ...(resourceMetadataUrl && { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
  });
  return result === "AUTHORIZED";
}

/** Sends a refresh token only to the authorization server that issued it. */
async function refresh(
  provider: ProviderOptions,
  { label, url, server, oauth, logins, fetch }: RenewOptions,
  { issuer, client, tokens }: KeptLogin,
  { resourceMetadataUrl }: Challenge,
): Promise<boolean> {
  const { sdk } = provider;
  const discovered = await sdk.discoverOAuthServerInfo(url, {
    fetchFn: fetch,
    ...(resourceMetadataUrl && { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
  });
  const { authorizationServerMetadata: metadata, authorizationServerUrl, resourceMetadata } = discovered;
  if ((metadata?.issuer ?? authorizationServerUrl) !== issuer) {
    throw problem("LOGIN_FAILED", { server: label, reason: "it has another authorization server now" });
  }
  const identity = oauth.clientId === undefined ? client : configuredClient(oauth);
  if (!identity || tokens?.refresh_token === undefined) return false;
  try {
    const renewed = await sdk.refreshAuthorization(authorizationServerUrl, {
      ...(metadata && { metadata }),
      clientInformation: identity,
      refreshToken: tokens.refresh_token,
      ...(resourceMetadata && { resource: resourceMetadata.resource }),
      ...clientAuthentication(provider),
      fetchFn: fetch,
    });
    const scope = renewed.scope ?? tokens.scope;
    await logins.save(server, toLogin(issuer, client, { ...renewed, ...(scope && { scope }), issuer }));
    return true;
  } catch (error) {
    if (!ENDED.has(String((error as { code?: unknown }).code))) throw error;
    await logins.save(server, { issuer, ...(client && { client }) });
    return false;
  }
}

function configuredClient({ clientId = "", clientSecret }: OAuthConfig) {
  return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
}
