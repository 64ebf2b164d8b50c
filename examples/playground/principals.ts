// The principals of `npm start` and their tokens.
import { createHash, randomBytes } from "node:crypto";
import type { Principal } from "keyhole";
import type { HttpOptions } from "keyhole/mcp";

/** May read and change everything in the examples. */
export const PLAYGROUND: Principal = {
  id: "playground",
  scopes: ["internal", "support", "admin", "sql-write"],
  allowWrite: true,
};

/** May read what staff may read, and change nothing. */
export const GUEST: Principal = { id: "guest", scopes: ["internal", "support"], allowWrite: false };

export function makeToken(): string {
  return `kh_${randomBytes(32).toString("base64url")}`;
}

/** Maps a token to its principal. */
export function authenticateBy(
  tokens: ReadonlyMap<string, Principal>,
): NonNullable<HttpOptions["authenticate"]> {
  // Look up by digest, so that timing reveals nothing about the tokens.
  const principals = new Map([...tokens].map(([token, principal]) => [digest(token), principal]));
  return async ({ authorization = "" }) => {
    const [scheme, token = ""] = authorization.split(" ");
    const principal = scheme?.toLowerCase() === "bearer" ? principals.get(digest(token)) : undefined;
    return (
      principal ??
      new Response("This playground requires a token.", {
        status: 401,
        headers: { "www-authenticate": "Bearer" },
      })
    );
  };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
