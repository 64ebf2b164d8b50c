import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { problem } from "../../../base/problems/problem.ts";
import type { OAuthConfig } from "../config/server-config.ts";
import type { KeptLogin, Logins } from "./logins.ts";

type AuthSdk = typeof import("@modelcontextprotocol/client");

export interface ProviderOptions {
  readonly sdk: AuthSdk;
  readonly label: string;
  readonly server: string;
  readonly oauth: OAuthConfig;
  readonly logins: Logins;
}

/** The person who logs in, and the callback for the answer. */
export interface PersonOptions {
  readonly redirectUrl: string;
  readonly state: string;
  onUrl(url: URL): void | Promise<void>;
}

/** Creates Keyhole's OAuth client for one server. Without a person it uses its own credentials. */
export function createClientProvider(options: ProviderOptions, person?: PersonOptions): OAuthClientProvider {
  const { oauth, logins, server, label } = options;
  let registered: StoredOAuthClientInformation | undefined;
  let verifier = "";
  let discovery: OAuthDiscoveryState | undefined;

  async function configured(): Promise<StoredOAuthClientInformation | undefined> {
    if (oauth.clientId === undefined) return undefined;
    // The credentials are bound to the authorization server that first received them.
    const login = await logins.read(server);
    return {
      client_id: oauth.clientId,
      ...(oauth.clientSecret !== undefined && { client_secret: oauth.clientSecret }),
      ...(login?.client?.client_id === oauth.clientId && { issuer: login.issuer }),
    };
  }

  async function remembered(issuer: string | undefined): Promise<StoredOAuthClientInformation | undefined> {
    if (registered) return registered;
    const client = issuer === undefined ? undefined : (await logins.read(server, issuer))?.client;
    return client && fitsRedirect(client, person?.redirectUrl, oauth.clientMetadataUrl) ? client : undefined;
  }

  return {
    redirectUrl: person?.redirectUrl,
    clientMetadata: toMetadata(oauth, person?.redirectUrl),
    ...(oauth.clientMetadataUrl !== undefined && { clientMetadataUrl: oauth.clientMetadataUrl }),
    ...(person && { state: () => person.state }),
    ...clientAuthentication(options),
    clientInformation: async (context) => (await configured()) ?? (await remembered(context?.issuer)),
    ...(oauth.clientId === undefined && {
      saveClientInformation: (client: StoredOAuthClientInformation) => {
        registered = client;
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
    prepareTokenRequest: (scope) => (person ? undefined : ownRequest(scope)),
    saveDiscoveryState: (state) => {
      if (person) checkChallengeMethod(label, state);
      discovery = state;
    },
    discoveryState: () => discovery,
    saveCodeVerifier: (code) => {
      verifier = code;
    },
    codeVerifier: () => verifier,
    redirectToAuthorization: async (url) => {
      if (!person) throw problem("LOGIN_FAILED", { server: label, reason: "nobody is there to log in" });
      await person.onUrl(url);
    },
    invalidateCredentials: async (what) => {
      if (what === "client" || what === "all") registered = undefined;
    },
  };
}

/** Converts tokens for the store. Their lifetime counts from now. */
export function toLogin(
  issuer: string,
  client: StoredOAuthClientInformation | undefined,
  tokens: StoredOAuthTokens,
): KeptLogin {
  return {
    issuer,
    ...(client && { client }),
    tokens,
    ...(tokens.expires_in !== undefined && { expiresAt: Date.now() + tokens.expires_in * 1_000 }),
  };
}

/** Authenticates the client with its key. */
export function clientAuthentication({
  sdk,
  oauth,
}: ProviderOptions): Pick<OAuthClientProvider, "addClientAuthentication"> {
  const { clientId, privateKey, algorithm } = oauth;
  if (clientId === undefined || privateKey === undefined) return {};
  const addClientAuthentication = sdk.createPrivateKeyJwtAuth({
    issuer: clientId,
    subject: clientId,
    privateKey,
    alg: algorithm,
  });
  return { addClientAuthentication };
}

function ownRequest(scope: string | undefined): URLSearchParams {
  return new URLSearchParams({ grant_type: "client_credentials", ...(scope && { scope }) });
}

function toMetadata(oauth: OAuthConfig, redirectUrl: string | undefined): OAuthClientMetadata {
  const scope = oauth.scopes?.join(" ");
  return {
    client_name: "Keyhole",
    redirect_uris: redirectUrl === undefined ? [] : [redirectUrl],
    grant_types: redirectUrl === undefined ? ["client_credentials"] : ["authorization_code", "refresh_token"],
    ...(redirectUrl !== undefined && { response_types: ["code"] }),
    ...(scope && { scope }),
  };
}

/** A registration is valid for its callback address only. */
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
