import { randomBytes } from "node:crypto";

/** Returns a random bearer token. */
export function generateToken(): string {
  return `kh_${randomBytes(32).toString("base64url")}`;
}
