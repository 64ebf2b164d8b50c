const POINTER = 8;
const HEADER = 24;
const NUMBER = 16;

/** Estimates the memory of a JSON-like value, rather too high than too low. Stops soon after `limit`. */
export function heapBytes(value: unknown, limit = Number.POSITIVE_INFINITY): number {
  if (typeof value === "string") return HEADER + 2 * value.length;
  if (typeof value !== "object" || value === null) return NUMBER;
  let bytes = HEADER + POINTER;
  if (Array.isArray(value)) {
    for (const item of value) {
      bytes += POINTER + heapBytes(item, limit - bytes);
      if (bytes > limit) return bytes;
    }
    return bytes;
  }
  for (const key in value) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    bytes += 2 * POINTER + key.length + heapBytes(member, limit - bytes);
    if (bytes > limit) return bytes;
  }
  return bytes;
}
