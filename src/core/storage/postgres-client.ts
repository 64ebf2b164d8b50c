/** The part of a PostgreSQL client that Keyhole uses. `Pool` and `Client` of `pg` have it, and so does PGlite. */
export interface PostgresClient {
  query(sql: string, params?: unknown[]): Promise<{ readonly rows: readonly object[] }>;
}

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
