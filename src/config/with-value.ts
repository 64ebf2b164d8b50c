import { field, isFields } from "../util/fields.ts";

/** A copy of a record with the value at a path. Without a value, the path is left out. */
export function withValue(holder: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const fields = isFields(holder) ? holder : {};
  const entries = new Map(Object.entries(fields));
  const inner = withValue(field(fields, key), rest, value);
  if (inner === undefined) entries.delete(key);
  else entries.set(key, inner);
  return Object.fromEntries(entries);
}
