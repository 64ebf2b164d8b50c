import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

/** SHA-256 over the canonical JSON (RFC 8785) of a value. The order of keys does not matter. */
export function contentHash(value: unknown): string {
  return createHash("sha256")
    .update(canonicalize(value) ?? "")
    .digest("hex");
}
