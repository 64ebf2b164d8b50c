/**
 * Other engines keep neither NUL nor half a surrogate pair. Such characters are written as U+E000 and four hex
 * digits, and U+E000 itself too, so that no two texts become one.
 */
const UNSTORABLE = /[\0\uE000]|\p{Surrogate}/gu;
const ESCAPED = /\uE000([0-9a-f]{4})/g;

export function toStoredText(text: string): string {
  return text.replace(UNSTORABLE, (unit) => `\uE000${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function fromStoredText(stored: string): string {
  return stored.replace(ESCAPED, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
