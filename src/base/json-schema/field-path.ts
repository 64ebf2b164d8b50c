import { toVisibleText } from "../safety/visible-text.ts";

const MAX_NAME = 64;
const PLAIN_NAME = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

/** Writes keys as a path, such as `items[3].name`. Names with other characters are quoted: `["a b"]`. */
export function fieldPath(keys: readonly PropertyKey[]): string {
  return keys.reduce((path: string, key) => path + step(key, path === ""), "");
}

function step(key: PropertyKey, first: boolean): string {
  if (typeof key === "number") return `[${key}]`;
  const name = toVisibleText(String(key), MAX_NAME);
  if (!PLAIN_NAME.test(name)) return `[${JSON.stringify(name)}]`;
  return first ? name : `.${name}`;
}
