import { isDeepStrictEqual } from "node:util";
import { field, isPlainObject } from "../../base/util/plain-object.ts";

/** Replaced as a whole: the groups of one file must not get the issuer of another. */
const ONE = "people";
/** Sections whose parts are replaced as a whole. */
const WHOLE = ["mcpServers", "overrides", "profiles"];
/** Lists that are joined, so that no file takes away those of another. */
const JOINED = ["hooks"];

/**
 * Merges the upper settings into the lower ones, key by key. Lists and other values are replaced; hooks are joined,
 * each once. A server of `mcpServers` is replaced as a whole, so that no file can change the command of another file's
 * server.
 */
export function mergeSettings<T>(lower: T, upper: unknown, path: readonly string[] = []): T {
  if (JOINED.includes(path.join(".")) && Array.isArray(lower) && Array.isArray(upper)) {
    const added = upper.filter((one) => !lower.some((other) => isDeepStrictEqual(one, other)));
    return [...lower, ...added] as T;
  }
  const isWhole = path[0] === ONE || (WHOLE.includes(path[0] ?? "") && path.length > 1);
  if (!isPlainObject(lower) || !isPlainObject(upper) || isWhole) return upper as T;
  const merged = new Map<string, unknown>(Object.entries(lower));
  for (const [key, value] of Object.entries(upper)) {
    if (value === undefined) continue;
    merged.set(key, merged.has(key) ? mergeSettings(merged.get(key), value, [...path, key]) : value);
  }
  return Object.fromEntries(merged) as T;
}

/** A copy of a record with the value at a path. Without a value, the path is left out. */
export function withValue(holder: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const fields = isPlainObject(holder) ? holder : {};
  const entries = new Map(Object.entries(fields));
  const inner = withValue(field(fields, key), rest, value);
  if (inner === undefined) entries.delete(key);
  else entries.set(key, inner);
  return Object.fromEntries(entries);
}
