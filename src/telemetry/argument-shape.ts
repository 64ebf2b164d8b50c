const MAX_DEPTH = 6;
const MAX_KEYS = 32;

/** Describes arguments by type and size, without values: `{ title: "string(12)", tags: "array(2)" }`. */
export function argumentShape(value: unknown, depth = 0): unknown {
  if (value === null) return "null";
  if (typeof value === "string") return `string(${value.length})`;
  if (Array.isArray(value)) {
    if (depth >= MAX_DEPTH || value.length === 0) return `array(${value.length})`;
    return [`array(${value.length})`, argumentShape(value[0], depth + 1)];
  }
  if (typeof value !== "object") return typeof value;
  const keys = Object.keys(value);
  if (depth >= MAX_DEPTH) return `object(${keys.length})`;
  const shown = keys.slice(0, MAX_KEYS).filter((key) => /^[\w.$-]{1,64}$/.test(key));
  return Object.fromEntries(
    shown.map((key) => [key, argumentShape((value as Record<string, unknown>)[key], depth + 1)]),
  );
}
