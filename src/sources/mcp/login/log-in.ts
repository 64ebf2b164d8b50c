import { randomBytes } from "node:crypto";
import {
  auth,
  computeScopeUnion,
  discoverOAuthServerInfo,
  refreshAuthorization,
} from "@modelcontextprotocol/client";
import { isProblem, type Problem, problem } from "../../../base/problems/problem.ts";
import { toVisibleText } from "../../../base/safety/visible-text.ts";
import { reasonOf } from "../../../base/util/reason-of.ts";
import { untilAborted } from "../../../base/util/until-aborted.ts";
import { openCallback } from "./callback.ts";
import {
  type BegunLogin,
  clientAuthentication,
  configuredClient,
  createClientProvider,
  type OAuthTarget,
  toLogin,
} from "./client-provider.ts";
import type { Challenge, StoredLogin } from "./logins.ts";

/** Options of `source.logIn()`. The person opens the address; the answer arrives at a local port. */
export interface LogInOptions {
  /** Shows the checked login address to the person. */
  onUrl(url: URL): void | Promise<void>;
  readonly signal?: AbortSignal;
  /** Time limit for the person, in milliseconds. Default: five minutes. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5 * 60_000;
const REASON_CHARS = 300;
/** Error codes of RFC 6749. Other text is not shown. */
const ERROR_CODE = /^[a-z_]{1,40}$/;

/** Lets a person log in and stores the tokens. Throws LOGIN_FAILED. */
export async function logIn(
  target: OAuthTarget,
  challenge: Challenge,
  { onUrl, signal, timeoutMs = TIMEOUT_MS }: LogInOptions,
): Promise<void> {
  const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  const state = randomBytes(32).toString("base64url");
  const { redirectUrl, answered, close } = await listen(target, state);
  try {
    const { url, begun } = await beginLogin(target, challenge, { redirectUrl, state });
    await onUrl(url);
    const answer = await untilAborted(answered, limit);
    await finishLogin(target, challenge, begun, { redirectUrl, answer });
  } catch (error) {
    throw toProblem(target.label, error, limit.aborted);
  } finally {
    await close();
  }
}

/**
 * Begins a login: finds the authorization server, registers if necessary, and returns the checked address for the
 * person.
 *
 * @throws LOGIN_FAILED
 */
export async function beginLogin(
  target: OAuthTarget,
  challenge: Challenge,
  how: { readonly redirectUrl: string; readonly state: string },
): Promise<{ readonly url: URL; readonly begun: BegunLogin }> {
  const begun: BegunLogin = { verifier: "" };
  let url: URL | undefined;
  const onUrl = (address: URL) => {
    url = address;
  };
  const provider = createClientProvider(target, { ...how, onUrl }, begun);
  await auth(provider, { ...toRequest(target, challenge), forceReauthorization: true }).catch((error) => {
    throw toProblem(target.label, error, false);
  });
  if (!url) throw toProblem(target.label, new Error("it wants no person to log in"), false);
  return { url, begun };
}

/**
 * Redeems the answer to a login, possibly begun in another process, and stores the tokens.
 *
 * @throws LOGIN_FAILED
 */
export async function finishLogin(
  target: OAuthTarget,
  challenge: Challenge,
  begun: BegunLogin,
  { redirectUrl, answer }: { readonly redirectUrl: string; readonly answer: URLSearchParams },
): Promise<void> {
  const authorizationCode = answer.get("code");
  if (authorizationCode === null) throw refusal(target.label, answer);
  const provider = createClientProvider(target, { redirectUrl, state: "", onUrl: () => {} }, begun);
  const iss = answer.get("iss") ?? undefined;
  const request = { ...toRequest(target, challenge), authorizationCode, iss };
  const ended = await auth(provider, request).catch((error) => {
    throw toProblem(target.label, error, false);
  });
  if (ended !== "AUTHORIZED") throw toProblem(target.label, new Error("the answer was not accepted"), false);
}

function toRequest({ url, fetch, oauth }: OAuthTarget, { scope, resourceMetadataUrl }: Challenge) {
  return {
    serverUrl: url,
    fetchFn: fetch,
    scope: computeScopeUnion(scope, oauth.scopes?.join(" ")),
    ...(resourceMetadataUrl && { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
  };
}

/** Reuses the port of an earlier registration, which is bound to it. */
async function listen({ oauth, logins, server, label }: OAuthTarget, state: string) {
  if (oauth.callbackPort !== undefined) {
    return openCallback(state, oauth.callbackPort).catch((error: unknown) => {
      throw toProblem(label, error, false);
    });
  }
  const client = (await logins.read(server))?.client;
  const uri = client && "redirect_uris" in client ? client.redirect_uris[0] : undefined;
  const port = Number(uri === undefined ? 0 : (URL.parse(String(uri))?.port ?? 0));
  return openCallback(state, port).catch(() => openCallback(state, 0));
}

function refusal(label: string, answer: URLSearchParams): Problem {
  const code = answer.get("error") ?? "";
  const reason = `it was refused${ERROR_CODE.test(code) ? ` (${code})` : ""}`;
  return problem("LOGIN_FAILED", { server: label, reason }, { reason });
}

/** In a mix-up attack the attacker writes the answer, so it is not quoted. */
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

/** OAuth errors that end the login, unlike temporary failures. */
const ENDED = new Set(["invalid_grant", "invalid_client", "unauthorized_client"]);

/** Replaces a stale token. False if only a person can do it. */
export async function renewLogin(
  target: OAuthTarget,
  stale: string | undefined,
  challenge: Challenge,
): Promise<boolean> {
  const { server, logins, oauth } = target;
  const isOwn = oauth.grant === "client_credentials";
  const first = await logins.read(server);
  if (!isOwn && first?.tokens?.refresh_token === undefined) return isAnother(first, stale);
  return logins.alone(server, async () => {
    const login = await logins.read(server);
    if (isAnother(login, stale)) return true;
    if (isOwn)
      return (await auth(createClientProvider(target), toRequest(target, challenge))) === "AUTHORIZED";
    return login !== undefined && refresh(target, login, challenge);
  });
}

/** Another process may have renewed the token. */
function isAnother(login: StoredLogin | undefined, stale: string | undefined): boolean {
  return login?.tokens !== undefined && login.tokens.access_token !== stale;
}

/** Sends a refresh token only to the authorization server that issued it. */
async function refresh(
  target: OAuthTarget,
  { issuer, client, tokens }: StoredLogin,
  challenge: Challenge,
): Promise<boolean> {
  const { label, url, server, oauth, logins, fetch: fetchFn } = target;
  if (tokens?.refresh_token === undefined) return false;
  const discovered = await discoverOAuthServerInfo(url, toRequest(target, challenge));
  const { authorizationServerMetadata: metadata, authorizationServerUrl, resourceMetadata } = discovered;
  if ((metadata?.issuer ?? authorizationServerUrl) !== issuer) {
    throw problem("LOGIN_FAILED", { server: label, reason: "it has another authorization server now" });
  }
  const clientInformation = configuredClient(oauth) ?? client;
  if (!clientInformation) return false;
  try {
    const renewed = await refreshAuthorization(authorizationServerUrl, {
      ...{ metadata, clientInformation, fetchFn, refreshToken: tokens.refresh_token },
      ...(resourceMetadata && { resource: resourceMetadata.resource }),
      ...clientAuthentication(oauth),
    });
    const scope = renewed.scope ?? tokens.scope;
    await logins.save(server, toLogin(issuer, client, { ...renewed, ...(scope && { scope }), issuer }));
    return true;
  } catch (error) {
    if (!ENDED.has(String((error as { code?: unknown }).code))) throw error;
    await logins.save(server, { issuer, client });
    return false;
  }
}
