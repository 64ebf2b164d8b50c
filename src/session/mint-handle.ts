import { randomBytes } from "node:crypto";

/** 128 random bits behind a prefix that says what it is. */
export function mintHandle(prefix: string): string {
  return `${prefix}${randomBytes(16).toString("base64url")}`;
}
