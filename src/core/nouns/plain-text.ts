/** Text stays text; anything else is JSON. */
export function toPlainText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
