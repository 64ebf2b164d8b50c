import { toVisibleText } from "../safety/visible-text.ts";

const MAX_SHOWN = 40;
const MAX_CHOICES = 20;

/** Names a value and its type: `string "5"`, `array of 3`, `null`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return `array of ${value.length}`;
  if (typeof value === "object") return "object";
  return `${typeof value} ${showValue(value)}`;
}

/** Writes a value as JSON, short enough for a sentence. */
export function showValue(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(toVisibleText(value.slice(0, 10 * MAX_SHOWN), MAX_SHOWN));
  if (value === null || typeof value !== "object") return String(value);
  return toVisibleText(JSON.stringify(value) ?? "", MAX_SHOWN);
}

/** Names types within a sentence: `a string`, `an integer or null`. */
export function describeTypes(types: readonly string[]): string {
  return [...new Set(types)].map(withArticle).join(" or ");
}

/** Lists the first few allowed values: `one of "low", "high"`. */
export function describeChoices(values: readonly unknown[]): string {
  const shown = [...new Set(values.slice(0, MAX_CHOICES).map(showValue))];
  if (values.length > MAX_CHOICES)
    return `one of ${shown.join(", ")} and ${values.length - MAX_CHOICES} more`;
  return shown.length === 1 ? shown[0]! : `one of ${shown.join(", ")}`;
}

function withArticle(type: string): string {
  if (type === "null" || type === "undefined") return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
