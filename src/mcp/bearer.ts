import { timingSafeEqual } from "node:crypto";
import { bearerAuthChallengeResponse, OAuthError, OAuthErrorCode } from "@modelcontextprotocol/server";
import type { Principal } from "../schema/principal.ts";
import type { OAuthGuard } from "./oauth.ts";

const MAX_HEADER_CHARS = 16 * 1024;

/** Finds the principals of bearer tokens, such as those of `keyhole token add`. */
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
  const expected = token === undefined ? undefined : Buffer.from(token);
  return async (header: string | undefined): Promise<{ principal: Principal | undefined } | Response> => {
    const given = readBearer(header);
    if (given !== undefined && expected && isSame(Buffer.from(given), expected)) return { principal };
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

/** Constant-time: timing reveals nothing but the length, which is no secret. */
function isSame(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
