// Who may call the systems of `npm start`, and the tokens that they show.
import { createHash, randomBytes } from "node:crypto";
import type { Principal } from "keyhole";
import type { HttpOptions } from "keyhole/mcp";

/** May read and change everything in the examples. */
export const PLAYGROUND: Principal = {
  id: "playground",
  scopes: ["internal", "support", "admin", "sql-write"],
  allowWrite: true,
};

/** May read what staff reads, and change nothing. */
export const GUEST: Principal = { id: "guest", scopes: ["internal", "support"], allowWrite: false };

export function makeToken(): string {
  return `kh_${randomBytes(32).toString("base64url")}`;
}

/** Lets in whoever has one of the tokens, as its principal. */
export function authenticateBy(
  tokens: ReadonlyMap<string, Principal>,
): NonNullable<HttpOptions["authenticate"]> {
  // Looked up by digest, so that the time it takes tells nothing about the tokens.
  const principals = new Map([...tokens].map(([token, principal]) => [digest(token), principal]));
  return async ({ authorization = "" }) => {
    const [scheme, token = ""] = authorization.split(" ");
    const principal = scheme?.toLowerCase() === "bearer" ? principals.get(digest(token)) : undefined;
    return (
      principal ??
      new Response("A token of this playground is needed.", {
        status: 401,
        headers: { "www-authenticate": "Bearer" },
      })
    );
  };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
