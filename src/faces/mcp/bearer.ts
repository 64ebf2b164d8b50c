import {
  bearerAuthChallengeResponse,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
} from "@modelcontextprotocol/server";
import { type JWTPayload, jwtVerify } from "jose";
import { isSameSecret } from "../../base/safety/same-secret.ts";
import { keepSubjectToken } from "../../core/access/subject-tokens.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { createIssuer } from "./issuer.ts";
import type { IssuerOptions } from "./issuer-options.ts";
import { profilePath } from "./profiles.ts";
import { refusedCaller } from "./protocol-errors.ts";

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
 * stands for the gateway's own. The second argument is the profile that the request is addressed to.
 */
export function createBearerCheck({ token, principal, tokens, oauth }: BearerOptions) {
  return async (
    header: string | undefined,
    profile?: string,
  ): Promise<{ principal: Principal | undefined } | Response> => {
    const given = readBearer(header);
    if (given !== undefined && token !== undefined && isSameSecret(given, token)) return { principal };
    const found = given === undefined ? undefined : await tokens?.find(given);
    if (found) return { principal: found };
    if (oauth) {
      const checked = await oauth.check(given, profile);
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
export interface OAuthOptions extends IssuerOptions {
  /** The public URL of this server, which is the exact `aud` of its tokens. */
  readonly audience: string;
  /** Accepted signature algorithms. Default: the common asymmetric ones. */
  readonly algorithms?: readonly string[];
  /** Scopes that every token must have. */
  readonly requiredScopes?: readonly string[];
  /** Scopes that clients are told to ask the issuer for. Default: `requiredScopes` and `writeScope`. */
  readonly askedScopes?: readonly string[];
  /** The scope that allows writing. Default: `keyhole:write`. */
  readonly writeScope?: string;
  /** Seconds by which clocks may differ, at most 60. Default: 5. */
  readonly clockTolerance?: number;
  /**
   * Maps the claims of a token to its principal. Default: its subject with its scopes. A problem that it throws
   * refuses the caller with its words.
   */
  readonly toPrincipal?: (claims: Readonly<Record<string, unknown>>) => Principal;
}

/** Checks bearer tokens of one issuer. */
export type OAuthGuard = ReturnType<typeof createOAuthGuard>;

/** Signatures that only the issuer can make: none with a shared secret. */
export const ALGORITHMS: readonly string[] = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
];
const WRITE_SCOPE = "keyhole:write";
const MAX_TOLERANCE = 60;
/** The limit of OpenID Connect. */
const MAX_SUBJECT_CHARS = 255;
const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** Creates the check of bearer tokens. */
export function createOAuthGuard(options: OAuthOptions) {
  const { issuer, audience, requiredScopes = [], writeScope = WRITE_SCOPE } = options;
  const askedScopes = [...(options.askedScopes ?? new Set([...requiredScopes, writeScope]))];
  const challenged = [...(options.askedScopes ?? requiredScopes)];
  const { keys } = createIssuer(options);
  const toPrincipal = options.toPrincipal ?? ((claims) => fromScopes(issuer, claims, writeScope));
  const verification = {
    issuer,
    algorithms: [...(options.algorithms ?? ALGORITHMS)],
    clockTolerance: Math.min(options.clockTolerance ?? 5, MAX_TOLERANCE),
    requiredClaims: ["exp", "sub"],
  };
  /** The address of a profile is a resource of its own. */
  const resourceOf = (profile: string | undefined) =>
    profile === undefined ? audience : profilePath(audience.replace(/\/$/, ""), profile);
  const metadataUrlOf = (profile: string | undefined) =>
    getOAuthProtectedResourceMetadataUrl(new URL(resourceOf(profile)));
  const challenge = (code: OAuthErrorCode, message: string, profile: string | undefined) =>
    bearerAuthChallengeResponse(new OAuthError(code, message), {
      requiredScopes: challenged,
      resourceMetadataUrl: metadataUrlOf(profile),
    });

  return {
    /** The paths where clients look for the metadata of this server. */
    metadataPaths: [...new Set([METADATA_PATH, new URL(metadataUrlOf(undefined)).pathname])],
    /** The protected-resource metadata (RFC 9728) of this server, or of a profile that it serves. */
    metadata: (profile?: string) => ({
      resource: resourceOf(profile),
      authorization_servers: [issuer],
      ...(askedScopes.length > 0 && { scopes_supported: askedScopes }),
      bearer_methods_supported: ["header"],
    }),
    /**
     * Returns the principal of a token, or the refusal with the place to get a token. A token for the address of a
     * profile is for that address alone; one for the server is for all of its addresses.
     */
    check: async (token: string | undefined, profile?: string): Promise<Principal | Response> => {
      const refuse = (code: OAuthErrorCode, message: string) => challenge(code, message, profile);
      if (token === undefined) return refuse(OAuthErrorCode.InvalidToken, "A bearer token is needed");
      const expected = { ...verification, audience: [audience, resourceOf(profile)] };
      const claims = await jwtVerify(token, keys, expected).then(
        ({ payload }) => payload,
        () => undefined,
      );
      // The exact reason would only help forgers.
      if (!claims || !isSubject(claims.sub))
        return refuse(OAuthErrorCode.InvalidToken, "The token is not valid here");
      const scopes = scopesOf(claims);
      if (!requiredScopes.every((scope) => scopes.includes(scope))) {
        return refuse(OAuthErrorCode.InsufficientScope, "The token lacks a scope");
      }
      try {
        const principal = toPrincipal(claims);
        keepSubjectToken(principal, token);
        return principal;
      } catch (error) {
        return refusedCaller(error);
      }
    },
  };
}

function isSubject(sub: unknown): boolean {
  return typeof sub === "string" && sub.trim() !== "" && sub.length <= MAX_SUBJECT_CHARS;
}

/** The id of a person: two issuers may have the same subject. No issuer contains `#`. */
export function personId(issuer: string, sub: unknown): string {
  return `${issuer}#${sub}`;
}

function fromScopes(issuer: string, claims: JWTPayload, writeScope: string): Principal {
  const scopes = scopesOf(claims);
  return { id: personId(issuer, claims.sub), scopes, allowWrite: scopes.includes(writeScope) };
}

/** Reads `scope`, a text of words; some issuers send a list in `scp` instead. */
function scopesOf({ scope, scp }: JWTPayload): string[] {
  if (typeof scope === "string") return scope.split(" ").filter((word) => word !== "");
  return Array.isArray(scp) ? scp.filter((word) => typeof word === "string") : [];
}
