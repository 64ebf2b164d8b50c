import type { Json } from "../util/json.ts";

/** Counts the characters of a value's JSON without writing it. Stops soon after `limit`. */
export function jsonChars(value: Json, limit = Number.POSITIVE_INFINITY): number {
  if (typeof value === "string") return value.length + 2;
  if (value === null || typeof value !== "object") return String(value).length;
  let chars = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      chars += jsonChars(item, limit - chars) + 1;
      if (chars > limit) return chars;
    }
    return chars;
  }
  for (const key of Object.keys(value)) {
    chars += key.length + 4 + jsonChars(value[key]!, limit - chars);
    if (chars > limit) return chars;
  }
  return chars;
}
