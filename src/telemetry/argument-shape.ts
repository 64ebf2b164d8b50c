const MAX_DEPTH = 6;
const MAX_KEYS = 32;

/** Describes a value by its type and size, without anything inside it: `array(2)`. */
export function flatShape(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return `string(${value.length})`;
  if (Array.isArray(value)) return `array(${value.length})`;
  return typeof value === "object" ? `object(${Object.keys(value).length})` : typeof value;
}

/** Describes arguments by type and size, without values: `{ title: "string(12)", tags: "array(2)" }`. */
export function argumentShape(value: unknown, depth = 0): unknown {
  if (value === null || typeof value !== "object" || depth >= MAX_DEPTH) return flatShape(value);
  if (Array.isArray(value)) {
    return value.length === 0 ? flatShape(value) : [flatShape(value), argumentShape(value[0], depth + 1)];
  }
  const shown = Object.keys(value)
    .slice(0, MAX_KEYS)
    .filter((key) => /^[\w.$-]{1,64}$/.test(key));
  return Object.fromEntries(
    shown.map((key) => [key, argumentShape((value as Record<string, unknown>)[key], depth + 1)]),
  );
}
