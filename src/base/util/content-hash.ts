import { hash } from "node:crypto";
import canonicalize from "canonicalize";

/** SHA-256 of the canonical JSON (RFC 8785) of a value. The order of keys does not matter. */
export function contentHash(value: unknown): string {
  return hash("sha256", canonicalize(value) ?? "");
}

/** Checksum against accidental damage, continued from `before`. The first call loads `node:zlib`. */
export function crc32(data: string | NodeJS.ArrayBufferView, before = 0): number {
  return process.getBuiltinModule("node:zlib").crc32(data, before);
}
