import { types } from "node:util";
import type { Json } from "./json.ts";
import { setMember } from "./plain-object.ts";

const MAX_DEPTH = 64;
const MAX_WORK = 40_000_000;
const CONTAINER_WORK = 5;
const MAX_WARNINGS = 10;

export type ToJsonOutcome =
  | { readonly ok: true; readonly value: Json; readonly warnings: string[] }
  | { readonly ok: false; readonly reason: string };

/** Copies any value to plain JSON. Never throws, even if getters do. */
export function toJson(value: unknown): ToJsonOutcome {
  const walk: Walk = { ancestors: [], path: [], work: 0, warnings: [], moreWarnings: 0, refusal: undefined };
  try {
    const json = convert(value, "", walk);
    if (json === undefined) warn(walk, "the tool returned nothing");
    return { ok: true, value: json ?? null, warnings: allWarnings(walk) };
  } catch (error) {
    return { ok: false, reason: walk.refusal ?? `reading it threw: ${messageOf(error)}` };
  }
}

interface Walk {
  readonly ancestors: object[];
  readonly path: (string | number)[];
  work: number;
  readonly warnings: string[];
  moreWarnings: number;
  refusal: string | undefined;
}

type Key = string | number;

/** Undefined for values that JSON omits: undefined, functions, symbols. */
function convert(value: unknown, key: Key, walk: Walk): Json | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return convertNumber(value, key, walk);
    case "bigint":
      return value.toString();
    case "object":
      return value === null ? null : convertObject(value, key, walk);
    default:
      return undefined;
  }
}

function convertNumber(value: number, key: Key, walk: Walk): number | null {
  // JSON has no negative zero; adding 0 removes it.
  if (Number.isFinite(value)) return value + 0;
  warn(walk, `${value}${place(walk, key)} became null`);
  return null;
}

function convertObject(value: object, key: Key, walk: Walk): Json | undefined {
  if (walk.ancestors.length >= MAX_DEPTH) refuse(walk, `it is nested deeper than ${MAX_DEPTH} levels`);
  if (walk.ancestors.includes(value)) refuse(walk, `it contains itself${place(walk, key)}`);
  walk.ancestors.push(value);
  walk.path.push(key);
  const json = convertMembers(value, walk);
  walk.path.pop();
  walk.ancestors.pop();
  return json;
}

function convertMembers(value: object, walk: Walk): Json | undefined {
  if (Array.isArray(value)) return convertArray(value, walk);
  const prototype = Object.getPrototypeOf(value);
  const plain = prototype === Object.prototype || prototype === null;
  if (!plain && (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)))
    return convertBytes(value, walk);
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const key = walk.path.at(-1) ?? "";
    const replaced: unknown = value.toJSON(String(key));
    return replaced === value ? convertFields(value, walk) : convert(replaced, key, walk);
  }
  if (plain) return convertFields(value, walk);
  if (types.isMap(value)) return convertMap(value, walk);
  if (types.isSet(value)) return convertArray([...value], walk);
  if (types.isNativeError(value)) return { name: String(value.name), message: String(value.message) };
  if (types.isBoxedPrimitive(value)) return convert(value.valueOf(), walk.path.at(-1) ?? "", walk);
  return convertFields(value, walk);
}

function convertArray(values: readonly unknown[], walk: Walk): Json[] {
  const { length } = values;
  count(walk, length);
  const result: Json[] = [];
  for (let index = 0; index < length; index += 1) {
    result.push(convert(values[index], index, walk) ?? null);
  }
  return result;
}

function convertFields(value: object, walk: Walk): Json {
  const keys = Object.keys(value);
  count(walk, keys.length);
  const result: { [key: string]: Json } = {};
  for (const key of keys) {
    const json = convert((value as Record<string, unknown>)[key], key, walk);
    if (json !== undefined) setMember(result, key, json);
  }
  return result;
}

/** A map becomes a list of pairs if a key is not text or two keys have the same text. */
function convertMap(map: ReadonlyMap<unknown, unknown>, walk: Walk): Json {
  const entries = [...map];
  const words = new Set(entries.map(([key]) => (isWord(key) ? String(key) : key)));
  if (words.size < entries.length || entries.some(([key]) => !isWord(key))) {
    warn(walk, `a Map${place(walk)} became a list of pairs`);
    return convertArray(entries, walk);
  }
  return convertFields(Object.fromEntries(entries.map(([key, item]) => [String(key), item])), walk);
}

function isWord(key: unknown): boolean {
  return typeof key === "string" || typeof key === "number" || typeof key === "bigint";
}

function convertBytes(value: ArrayBufferView | ArrayBufferLike, walk: Walk): string {
  warn(walk, `bytes${place(walk)} became base64 text`);
  const bytes = ArrayBuffer.isView(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : Buffer.from(value);
  return bytes.toString("base64");
}

/** Shared objects are written each time, so a few objects can stand for very many values. */
function count(walk: Walk, values: number): void {
  // Deep values cost more: each is compared with all its ancestors.
  walk.work += values + CONTAINER_WORK + walk.ancestors.length;
  if (walk.work > MAX_WORK) refuse(walk, "it has millions of values");
}

/** Aborts the walk. `toJson` catches it. */
function refuse(walk: Walk, reason: string): never {
  walk.refusal = reason;
  throw walk;
}

function warn(walk: Walk, warning: string): void {
  if (walk.warnings.length < MAX_WARNINGS) walk.warnings.push(warning);
  else walk.moreWarnings += 1;
}

function allWarnings({ warnings, moreWarnings }: Walk): string[] {
  return moreWarnings === 0 ? warnings : [...warnings, `and ${moreWarnings} more like these`];
}

/** Formats the path, as in ` at rows.3.price`; empty at the root. */
function place(walk: Walk, key?: Key): string {
  const keys = key === undefined ? walk.path : [...walk.path, key];
  return keys.length < 2 ? "" : ` at ${keys.slice(1).join(".").slice(0, 200)}`;
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "something that cannot be shown";
  }
}
