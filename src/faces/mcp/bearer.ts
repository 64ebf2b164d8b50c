import {
  bearerAuthChallengeResponse,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
} from "@modelcontextprotocol/server";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type FetchImplementation,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
} from "jose";
import { createGuardedFetch } from "../../base/net/guarded-fetch.ts";
import { readBytes } from "../../base/net/read-response.ts";
import { problem } from "../../base/problems/problem.ts";
import { isSameSecret } from "../../base/safety/same-secret.ts";
import type { Principal } from "../../core/nouns/principal.ts";

const MAX_HEADER_CHARS = 16 * 1024;

/** Finds the principals of bearer tokens, such as those of `keyhole agents add`. */
export interface TokenFinder {
  /** The principal of a token that is valid now. */
  find(token: string): Principal | undefined | Promise<Principal | undefined>;
}

interface BearerOptions {
  readonly token?: string | undefined;
  /** The principal of the token. Default: the gateway's own principal. */
  readonly principal?: Principal | undefined;
  readonly tokens?: TokenFinder | undefined;
  readonly oauth?: OAuthGuard | undefined;
}

/**
 * Creates the check of the Authorization header, which returns the principal or the refusal. An undefined principal
 * stands for the gateway's own.
 */
export function createBearerCheck({ token, principal, tokens, oauth }: BearerOptions) {
  return async (header: string | undefined): Promise<{ principal: Principal | undefined } | Response> => {
    const given = readBearer(header);
    if (given !== undefined && token !== undefined && isSameSecret(given, token)) return { principal };
    const found = given === undefined ? undefined : await tokens?.find(given);
    if (found) return { principal: found };
    if (oauth) {
      const checked = await oauth.check(given);
      return checked instanceof Response ? checked : { principal: checked };
    }
    const message = given === undefined ? "A bearer token is needed" : "The token is not valid here";
    return bearerAuthChallengeResponse(new OAuthError(OAuthErrorCode.InvalidToken, message));
  };
}

function readBearer(header: string | undefined): string | undefined {
  if (header === undefined || header.length > MAX_HEADER_CHARS) return undefined;
  const [scheme, token, ...more] = header.split(" ");
  return scheme?.toLowerCase() === "bearer" && token && more.length === 0 ? token : undefined;
}

/** Makes the server an OAuth resource server: it accepts the tokens of one issuer and issues none. */
export interface OAuthOptions {
  /** The exact `iss` of the tokens. */
  readonly issuer: string;
  /** The public URL of this server, which is the exact `aud` of its tokens. */
  readonly audience: string;
  /** The URL of the issuer's keys. It may be private; redirects are not followed. Needed without `keys`. */
  readonly jwksUri?: string;
  /** The issuer's keys themselves. */
  readonly keys?: { readonly keys: readonly Readonly<Record<string, unknown>>[] };
  /** Accepted signature algorithms. Default: the common asymmetric ones. */
  readonly algorithms?: readonly string[];
  /** Scopes that every token must have. */
  readonly requiredScopes?: readonly string[];
  /** The scope that allows writing. Default: `keyhole:write`. */
  readonly writeScope?: string;
  /** Seconds by which clocks may differ, at most 60. Default: 5. */
  readonly clockTolerance?: number;
  /** Maps the claims of a token to its principal. Default: its subject with its scopes. */
  readonly toPrincipal?: (claims: Readonly<Record<string, unknown>>) => Principal;
}

/** Checks bearer tokens of one issuer. */
export type OAuthGuard = ReturnType<typeof createOAuthGuard>;

const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
const WRITE_SCOPE = "keyhole:write";
const MAX_TOLERANCE = 60;
const MAX_KEY_BYTES = 2 ** 20;
const METADATA_PATH = "/.well-known/oauth-protected-resource";

/**
 * Creates the check of bearer tokens.
 *
 * @throws `INVALID_INPUT` if there are neither keys nor a URL of them.
 */
export function createOAuthGuard(options: OAuthOptions) {
  const { issuer, audience, requiredScopes = [], writeScope = WRITE_SCOPE } = options;
  const keys = keysOf(options);
  const metadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(audience));
  const challenge = (code: OAuthErrorCode, message: string) =>
    bearerAuthChallengeResponse(new OAuthError(code, message), {
      requiredScopes: [...requiredScopes],
      resourceMetadataUrl: metadataUrl,
    });
  const verification = {
    issuer,
    audience,
    algorithms: [...(options.algorithms ?? ALGORITHMS)],
    clockTolerance: Math.min(options.clockTolerance ?? 5, MAX_TOLERANCE),
    requiredClaims: ["exp", "sub"],
  };
  const document = {
    resource: audience,
    authorization_servers: [issuer],
    scopes_supported: [...new Set([...requiredScopes, writeScope])],
    bearer_methods_supported: ["header"],
  };

  return {
    /** The protected-resource metadata, by the paths where clients look for it. */
    metadata: new Map([
      [METADATA_PATH, document],
      [new URL(metadataUrl).pathname, document],
    ]),
    /** Returns the principal of a token, or the refusal with the place to get a token. */
    check: async (token: string | undefined): Promise<Principal | Response> => {
      if (token === undefined) return challenge(OAuthErrorCode.InvalidToken, "A bearer token is needed");
      const claims = await jwtVerify(token, keys, verification).then(
        ({ payload }) => payload,
        () => undefined,
      );
      // The exact reason would only help forgers.
      if (!claims?.sub?.trim()) return challenge(OAuthErrorCode.InvalidToken, "The token is not valid here");
      const scopes = scopesOf(claims);
      if (!requiredScopes.every((scope) => scopes.includes(scope))) {
        return challenge(OAuthErrorCode.InsufficientScope, "The token lacks a scope");
      }
      if (options.toPrincipal) return options.toPrincipal(claims);
      return { id: `${issuer}#${claims.sub}`, scopes, allowWrite: scopes.includes(writeScope) };
    },
  };
}

function keysOf({ jwksUri, keys }: OAuthOptions) {
  if (keys) return createLocalJWKSet(keys as JSONWebKeySet);
  if (jwksUri === undefined || !URL.canParse(jwksUri)) {
    const reason = "oauth needs keys, or the URL of them as jwksUri";
    throw problem("INVALID_INPUT", { operation: "serveHttp", reason });
  }
  return createRemoteJWKSet(new URL(jwksUri), { [customFetch]: keyFetch(jwksUri) });
}

/** Fetches keys from the address that the owner configured, which may be private, and from no other. */
function keyFetch(jwksUri: string): FetchImplementation {
  const guarded = createGuardedFetch({ ownUrl: jwksUri, redirects: "none" });
  return async (url, { headers, signal }) => {
    const response = await guarded(url, { headers: Object.fromEntries(headers), signal });
    const bytes = await readBytes(response, "the issuer's key endpoint", MAX_KEY_BYTES);
    return new Response(bytes, { status: response.status });
  };
}

/** Reads `scope`, a text of words; some issuers send a list in `scp` instead. */
function scopesOf({ scope, scp }: JWTPayload): string[] {
  if (typeof scope === "string") return scope.split(" ").filter((word) => word !== "");
  return Array.isArray(scp) ? scp.filter((word) => typeof word === "string") : [];
}
