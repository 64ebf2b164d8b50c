import { randomBytes } from "node:crypto";

/** Creates a handle: 128 random bits after a prefix for its kind. */
export function mintHandle(prefix: string): string {
  return `${prefix}${randomBytes(16).toString("base64url")}`;
}
