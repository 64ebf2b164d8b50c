import {
  discoverAuthorizationServerMetadata,
  fetchToken,
  type OAuthClientProvider,
} from "@modelcontextprotocol/client";
import { problem } from "../../../base/problems/problem.ts";
import { clientAuthentication, configuredClient, type OAuthTarget } from "./client-provider.ts";

/** The issuer of people's tokens, and Keyhole's client there. */
export interface ExchangeOptions {
  readonly issuer?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
}

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
/** Assumed lifetime of a token whose issuer does not say it. */
const UNKNOWN_SECONDS = 60;

/**
 * Exchanges a person's token for one of a server (RFC 8693). Sends the token only to its issuer, which the config
 * names.
 *
 * @throws LOGIN_FAILED
 */
export async function exchangeToken(
  target: OAuthTarget & { readonly exchange?: ExchangeOptions | undefined },
  subject: string | undefined,
  scope: string | undefined,
): Promise<{ readonly token: string; readonly expiresAt: number }> {
  const { label, url, fetch: fetchFn, oauth, exchange } = target;
  const failed = (reason: string) => problem("LOGIN_FAILED", { server: label, reason }, { reason });
  const issuer = oauth.issuer ?? exchange?.issuer;
  if (issuer === undefined) throw failed("the config names no issuer that exchanges tokens");
  if (subject === undefined) throw failed(`the caller has no token of ${issuer}`);
  const resource = `${url.origin}${url.pathname}`;
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
  const tokens = await fetchToken(exchangeProvider(target, subject, oauth.audience ?? resource), issuer, {
    ...(metadata && { metadata }),
    ...{ resource, fetchFn, scope: oauth.scopes?.join(" ") ?? scope ?? "" },
  });
  // The incoming token is for this gateway. Returned unchanged, it would be passed on to the server.
  if (tokens.access_token === subject) throw failed("the issuer returned the token that it was to exchange");
  const { expires_in: seconds = UNKNOWN_SECONDS } = tokens;
  return { token: tokens.access_token, expiresAt: Date.now() + seconds * 1_000 };
}

function exchangeProvider(
  { oauth, exchange }: Parameters<typeof exchangeToken>[0],
  subject: string,
  audience: string,
): OAuthClientProvider {
  return {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [] },
    ...clientAuthentication(oauth),
    clientInformation: () => configuredClient(oauth) ?? configuredClient({ ...oauth, ...exchange }),
    prepareTokenRequest: (scope) =>
      new URLSearchParams({
        grant_type: GRANT,
        subject_token: subject,
        subject_token_type: ACCESS_TOKEN,
        requested_token_type: ACCESS_TOKEN,
        audience,
        ...(scope && { scope }),
      }),
    tokens: () => undefined,
    saveTokens: () => {},
    redirectToAuthorization: () => {},
    saveCodeVerifier: () => {},
    codeVerifier: () => "",
  };
}
