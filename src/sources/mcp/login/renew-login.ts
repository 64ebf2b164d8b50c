import type { FetchLike } from "@modelcontextprotocol/client";
import { problem } from "../../../schema/problem.ts";
import type { OAuthConfig } from "../config/server-config.ts";
import {
  clientAuthentication,
  createClientProvider,
  type ProviderOptions,
  toLogin,
} from "./client-provider.ts";
import type { Challenge, KeptLogin, Logins } from "./logins.ts";

export interface RenewOptions {
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
    const kept = await logins.read(server);
    if (isAnother(kept, stale)) return true;
    if (isOwn) return requestToken(provider, options, challenge);
    return kept?.tokens?.refresh_token !== undefined && refresh(provider, options, kept, challenge);
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
  const found = await sdk.discoverOAuthServerInfo(url, {
    fetchFn: fetch,
    ...(resourceMetadataUrl && { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
  });
  const { authorizationServerMetadata: metadata, authorizationServerUrl, resourceMetadata } = found;
  if ((metadata?.issuer ?? authorizationServerUrl) !== issuer) {
    throw problem("LOGIN_FAILED", { server: label, reason: "it has another authorization server now" });
  }
  const known = oauth.clientId === undefined ? client : configuredClient(oauth);
  if (!known || tokens?.refresh_token === undefined) return false;
  try {
    const renewed = await sdk.refreshAuthorization(authorizationServerUrl, {
      ...(metadata && { metadata }),
      clientInformation: known,
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
