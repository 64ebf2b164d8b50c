import { hash } from "node:crypto";
import canonicalize from "canonicalize";

/** SHA-256 over the canonical JSON (RFC 8785) of a value. The order of keys does not matter. */
export function contentHash(value: unknown): string {
  return hash("sha256", canonicalize(value) ?? "");
}
