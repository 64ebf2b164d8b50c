import { cutText } from "../util/cut-text.ts";
import type { Json } from "../util/json.ts";

/**
 * Cuts a value to about `maxChars` characters of JSON. It keeps fewer items and fields but keeps them whole, and
 * the first whole lines of a text.
 */
export function preview(value: Json, maxChars: number): Json {
  if (fits(value, maxChars)) return value;
  if (typeof value === "string") return firstLines(value, maxChars);
  if (Array.isArray(value)) return firstItems(value, maxChars);
  if (value !== null && typeof value === "object") return smallFields(value, maxChars);
  return null;
}

function firstLines(text: string, maxChars: number): string {
  const cut = cutText(text, Math.max(1, maxChars - 2));
  const lastBreak = cut.lastIndexOf("\n");
  return lastBreak > 0 ? cut.slice(0, lastBreak) : cut;
}

function firstItems(items: readonly Json[], maxChars: number): Json[] {
  const shown: Json[] = [];
  let left = maxChars - 2;
  for (const item of items) {
    const size = jsonChars(item, left);
    if (size > left) break;
    shown.push(item);
    left -= size + 1;
  }
  return shown;
}

/** Keeps fields that fit, smallest first, and the beginning of lists and records that do not. */
function smallFields(record: { readonly [key: string]: Json }, maxChars: number): Json {
  const sizes = Object.keys(record).map((key) => ({
    key,
    size: jsonChars(record[key]!, maxChars) + key.length + 4,
  }));
  const shown = new Map<string, Json>();
  let left = maxChars - 2;
  for (const { key, size } of sizes.toSorted((one, other) => one.size - other.size)) {
    if (size <= left) {
      shown.set(key, record[key]!);
      left -= size;
      continue;
    }
    const part = left > key.length + 16 ? preview(record[key]!, left - key.length - 4) : null;
    if (part === null || isEmpty(part)) continue;
    shown.set(key, part);
    left -= jsonChars(part, left) + key.length + 4;
  }
  return Object.fromEntries(
    sizes.filter(({ key }) => shown.has(key)).map(({ key }) => [key, shown.get(key)!]),
  );
}

function isEmpty(value: Json): boolean {
  return value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

function fits(value: Json, maxChars: number): boolean {
  return jsonChars(value, maxChars) <= maxChars;
}

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
