import {
  createPrivateKeyJwtAuth,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { problem } from "../../../base/problems/problem.ts";
import type { OAuthConfig } from "../config/server-config.ts";
import type { Logins, StoredLogin } from "./logins.ts";

/** A server over HTTP, with the way to its authorization server. */
export interface OAuthTarget {
  readonly label: string;
  readonly url: URL;
  /** Key of the server in the store of logins. */
  readonly server: string;
  readonly oauth: OAuthConfig;
  readonly logins: Logins;
  /** Store of Keyhole's registrations, shared by the logins of all people. Default: with the login. */
  readonly clients?: Logins | undefined;
  readonly fetch: FetchLike;
  /** Throws if a person must not open this address. */
  checkUrl(url: URL): void;
}

/** The person who logs in, and the callback for the answer. */
interface PersonOptions {
  readonly redirectUrl: string;
  readonly state: string;
  onUrl(url: URL): void | Promise<void>;
}

/** A login in progress: the data to check and redeem its answer. */
export interface BegunLogin {
  verifier: string;
  discovery?: OAuthDiscoveryState | undefined;
  client?: StoredOAuthClientInformation | undefined;
}

/** Creates Keyhole's OAuth client for one server. Without a person it uses its own credentials. */
export function createClientProvider(
  target: OAuthTarget,
  person?: PersonOptions,
  begun: BegunLogin = { verifier: "" },
): OAuthClientProvider {
  const { oauth, logins, clients = logins, server, label } = target;
  const redirectUrl = person?.redirectUrl;

  async function configured(): Promise<StoredOAuthClientInformation | undefined> {
    const client = configuredClient(oauth);
    if (!client) return undefined;
    // Credentials are bound to the authorization server that first received them.
    const login = await logins.read(server);
    return login?.client?.client_id === client.client_id ? { ...client, issuer: login.issuer } : client;
  }

  async function remembered(issuer: string | undefined): Promise<StoredOAuthClientInformation | undefined> {
    if (begun.client) return begun.client;
    const client = issuer === undefined ? undefined : (await clients.read(server, issuer))?.client;
    return client && fitsRedirect(client, redirectUrl, oauth.clientMetadataUrl) ? client : undefined;
  }

  return {
    redirectUrl,
    clientMetadata: {
      client_name: "Keyhole",
      redirect_uris: redirectUrl === undefined ? [] : [redirectUrl],
      ...(redirectUrl === undefined
        ? { grant_types: ["client_credentials"] }
        : { grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] }),
      ...(oauth.scopes?.length && { scope: oauth.scopes.join(" ") }),
    },
    ...(oauth.clientMetadataUrl !== undefined && { clientMetadataUrl: oauth.clientMetadataUrl }),
    ...(person && { state: () => person.state }),
    ...clientAuthentication(oauth),
    clientInformation: async (context) => (await configured()) ?? (await remembered(context?.issuer)),
    ...(oauth.clientId === undefined && {
      saveClientInformation: async (client: StoredOAuthClientInformation) => {
        begun.client = client;
        if (clients !== logins && client.issuer)
          await clients.save(server, { issuer: client.issuer, client });
      },
    }),
    tokens: async (context) => (await logins.read(server, context?.issuer))?.tokens,
    saveTokens: async (tokens, context) => {
      const issuer = context?.issuer ?? tokens.issuer;
      if (issuer === undefined) throw problem("LOGIN_FAILED", { server: label, reason: "nobody issued it" });
      const client =
        oauth.clientId === undefined ? await remembered(issuer) : { client_id: oauth.clientId, issuer };
      await logins.save(server, toLogin(issuer, client, tokens));
    },
    prepareTokenRequest: (scope) =>
      person ? undefined : new URLSearchParams({ grant_type: "client_credentials", ...(scope && { scope }) }),
    saveDiscoveryState: (state) => {
      if (person) checkChallengeMethod(label, state);
      begun.discovery = state;
    },
    discoveryState: () => begun.discovery,
    saveCodeVerifier: (code) => {
      begun.verifier = code;
    },
    codeVerifier: () => begun.verifier,
    redirectToAuthorization: async (url) => {
      if (!person) throw problem("LOGIN_FAILED", { server: label, reason: "nobody is there to log in" });
      target.checkUrl(url);
      await person.onUrl(url);
    },
    invalidateCredentials: async (what) => {
      if (what === "client" || what === "all") begun.client = undefined;
    },
  };
}

/** The client in the config; undefined if Keyhole has to register itself. */
export function configuredClient({ clientId, clientSecret }: OAuthConfig) {
  if (clientId === undefined) return undefined;
  return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
}

/** Converts tokens for the store. Their lifetime starts now. */
export function toLogin(
  issuer: string,
  client: StoredOAuthClientInformation | undefined,
  tokens: StoredOAuthTokens,
): StoredLogin {
  const { expires_in: seconds } = tokens;
  const expiresAt = seconds === undefined ? undefined : Date.now() + seconds * 1_000;
  return { issuer, client, tokens, expiresAt };
}

/** Authenticates the client with its key. */
export function clientAuthentication({
  clientId,
  privateKey,
  algorithm,
}: OAuthConfig): Pick<OAuthClientProvider, "addClientAuthentication"> {
  if (clientId === undefined || privateKey === undefined) return {};
  const identity = { issuer: clientId, subject: clientId };
  return { addClientAuthentication: createPrivateKeyJwtAuth({ ...identity, privateKey, alg: algorithm }) };
}

/** A registration is valid only for its callback address. */
function fitsRedirect(
  client: StoredOAuthClientInformation,
  redirectUrl: string | undefined,
  metadataUrl: string | undefined,
): boolean {
  if (redirectUrl === undefined || client.client_id === metadataUrl) return true;
  return "redirect_uris" in client && client.redirect_uris.some((uri) => String(uri) === redirectUrl);
}

/** Requires PKCE: without it, a stolen code can be redeemed. The SDK accepts servers that do not mention it. */
function checkChallengeMethod(label: string, { authorizationServerMetadata }: OAuthDiscoveryState): void {
  const methods = authorizationServerMetadata?.code_challenge_methods_supported;
  if (methods?.includes("S256")) return;
  const reason = "its authorization server does not say that it supports PKCE with S256";
  throw problem("LOGIN_FAILED", { server: label, reason }, { reason });
}
