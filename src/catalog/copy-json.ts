import type { Json } from "../util/json.ts";

/** The largest value that {@link copyJson} copies. */
export interface JsonLimits {
  readonly bytes: number;
  readonly depth: number;
}

/** The result of {@link copyJson}. */
export type CopyOutcome =
  | { readonly ok: true; readonly copy: Json }
  | { readonly ok: false; readonly reason: string };

/**
 * Copies a JSON value from outside, or says why it cannot. Reads each member once and no more than the limits
 * allow, so it also ends on cyclic, shared, endless and very deep values.
 */
export function copyJson(root: unknown, limits: JsonLimits): CopyOutcome {
  try {
    return copyWithin(root, limits);
  } catch {
    return { ok: false, reason: "reading it fails" };
  }
}

interface Pending {
  readonly source: object;
  readonly copy: object;
  readonly depth: number;
}

/** Sets members in their own order and fills in their contents later. */
function copyWithin(root: unknown, limits: JsonLimits): CopyOutcome {
  const holder: { root: Json } = { root: null };
  const pending: Pending[] = [{ source: { root }, copy: holder, depth: 0 }];
  let left = limits.bytes;
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    const { source, copy, depth } = item;
    const isList = Array.isArray(source);
    // Checked before listing keys: a sparse array can have billions of members.
    if (isList && source.length > left) return tooLarge(limits);
    for (const key of isList ? source.keys() : Object.keys(source)) {
      const member: unknown = Reflect.get(source, key);
      if (member === undefined && !isList) continue;
      const size = sizeOf(member);
      if (size === undefined) return refusal(`it contains a ${typeof member}`);
      left -= size + (typeof key === "string" ? key.length + 4 : 1);
      if (left < 0) return tooLarge(limits);
      if (typeof member !== "object" || member === null) {
        setMember(copy, key, member ?? null);
        continue;
      }
      if (depth > limits.depth) return refusal(`it is nested deeper than ${limits.depth} levels`);
      const inner = Array.isArray(member) ? [] : {};
      setMember(copy, key, inner);
      pending.push({ source: member, copy: inner, depth: depth + 1 });
    }
  }
  return { ok: true, copy: holder.root };
}

function tooLarge(limits: JsonLimits): CopyOutcome {
  return refusal(`it is larger than ${Math.floor(limits.bytes / 1024)} KB`);
}

function refusal(reason: string): CopyOutcome {
  return { ok: false, reason };
}

function sizeOf(value: unknown): number | undefined {
  if (typeof value === "object" && value !== null) return 2;
  if (value === null || value === undefined) return 4;
  if (typeof value === "string") return value.length + 2;
  if (typeof value === "number" || typeof value === "boolean") return String(value).length;
  return undefined;
}

/** Defines a member named `__proto__` instead of assigning it, so that it is data like any other. */
function setMember(target: object, key: string | number, value: unknown): void {
  if (key !== "__proto__") Reflect.set(target, key, value);
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
