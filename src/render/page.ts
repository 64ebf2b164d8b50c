import { escapePart } from "../schema/resolve-pointer.ts";
import type { Json } from "../util/json.ts";
import { jsonChars } from "./json-chars.ts";
import type { Left, Page, PageRequest } from "./page-parts.ts";
import { countLines, textPage } from "./text-page.ts";

type Fields = { readonly [key: string]: Json };

/** More parts than this are not named one by one. */
const MOST_LEFT = 4;
const MOST_PATH_CHARS = 200;
/** A field has quotes, a colon, a comma and a value. */
const LEAST_FIELD_CHARS = 5;
/** The beginning of a value needs some room to be of use. */
const LEAST_CHARS = 16;

/**
 * Takes about `maxChars` characters of JSON from a value. Items, fields and lines stay whole as long as one fits.
 * The page and all that is read from `left` make up the value.
 */
export function toPage(value: Json, maxChars: number, request: PageRequest = {}): Page {
  const page = pageOf(value, maxChars, request);
  if (page.left.length <= MOST_LEFT + 1) return page;
  return { ...page, left: [...page.left.slice(0, MOST_LEFT), asText(value)] };
}

function pageOf(value: Json, maxChars: number, request: PageRequest): Page {
  if (typeof value === "string") return textPage(value, maxChars, request);
  if (request.unit === "chars") return textPage(JSON.stringify(value), maxChars, request);
  if (value === null || typeof value !== "object") return { content: value, left: [] };
  if (Array.isArray(value)) return itemsPage(value, maxChars, request);
  const { offset = 0, limit } = request;
  const keys = Object.keys(value);
  const all = offset === 0 && (limit === undefined || limit >= keys.length);
  return (all ? smallFields(value, keys, maxChars) : undefined) ?? fieldsPage(value, keys, maxChars, request);
}

function itemsPage(items: readonly Json[], maxChars: number, { offset = 0, limit }: PageRequest): Page {
  const end = Math.min(items.length, offset + (limit ?? items.length));
  const shown: Json[] = [];
  const left: Left[] = [];
  let room = maxChars - 2;
  for (let at = offset; at < end; at++) {
    const item = items[at]!;
    const size = jsonChars(item, room);
    if (size <= room) {
      shown.push(item);
      room -= size + 1;
      continue;
    }
    if (shown.length > 0) break;
    const part = partOf(item, String(at), room);
    shown.push(part.content);
    left.push(...part.left);
    break;
  }
  const next = offset + shown.length;
  if (next < items.length) left.unshift({ path: "", unit: "items", offset: next, of: items.length });
  return { content: shown, left };
}

/** Fields in their order, from an offset on. */
function fieldsPage(
  record: Fields,
  keys: readonly string[],
  maxChars: number,
  { offset = 0, limit }: PageRequest,
): Page {
  const end = Math.min(keys.length, offset + (limit ?? keys.length));
  const shown: [string, Json][] = [];
  const left: Left[] = [];
  let room = maxChars - 2;
  for (const key of keys.slice(offset, end)) {
    const size = jsonChars(record[key]!, room) + key.length + 4;
    if (size <= room) {
      shown.push([key, record[key]!]);
      room -= size;
      continue;
    }
    if (shown.length > 0) break;
    // No page has room for such a name: the record can only be read as text.
    if (isUnnamed(key, room)) return { content: {}, left: [asText(record)] };
    const part = partOf(record[key]!, key, room - key.length - 4);
    shown.push([key, part.content]);
    left.push(...part.left);
    break;
  }
  const next = offset + shown.length;
  if (next < keys.length) left.unshift({ path: "", unit: "fields", offset: next, of: keys.length });
  return { content: toRecord(shown), left };
}

/**
 * The small fields of a record whole, and the beginning of others, in their order. Undefined if too many would have
 * to be named as left out.
 */
function smallFields(record: Fields, keys: readonly string[], maxChars: number): Page | undefined {
  // More than fit and than could be named: no need to measure them.
  if (keys.length > maxChars / LEAST_FIELD_CHARS + MOST_LEFT) return undefined;
  const sizes = keys.map((key) => ({ key, size: jsonChars(record[key]!, maxChars) + key.length + 4 }));
  const shown = new Map<string, Json>();
  const left: Left[] = [];
  let room = maxChars - 2;
  let cut = 0;
  for (const { key, size } of sizes.toSorted((one, other) => one.size - other.size)) {
    if (size <= room) {
      shown.set(key, record[key]!);
      room -= size;
      continue;
    }
    cut += 1;
    if (cut > MOST_LEFT || isUnnamed(key, maxChars)) return undefined;
    const inner = room - key.length - 4;
    const part = inner >= LEAST_CHARS ? partOf(record[key]!, key, inner) : undefined;
    if (part === undefined || isEmpty(part.content)) {
      left.push(startOf(record[key]!, `/${escapePart(key)}`));
      continue;
    }
    shown.set(key, part.content);
    left.push(...part.left);
    room -= jsonChars(part.content, room) + key.length + 4;
  }
  return {
    content: toRecord(keys.filter((key) => shown.has(key)).map((key) => [key, shown.get(key)!])),
    left,
  };
}

/** The beginning of a value inside another one. */
function partOf(value: Json, key: string, maxChars: number): Page {
  const { content, left } = pageOf(value, Math.max(LEAST_CHARS, maxChars), {});
  const within = left.map((one) => ({ ...one, path: `/${escapePart(key)}${one.path}` }));
  const named = within.every(({ path }) => path.length <= MOST_PATH_CHARS);
  return { content, left: named ? within : [{ ...asText(value), path: `/${escapePart(key)}` }] };
}

function startOf(value: Json, path: string): Left {
  if (typeof value === "string") return { path, unit: "lines", offset: 0, of: countLines(value) };
  if (Array.isArray(value)) return { path, unit: "items", offset: 0, of: value.length };
  const of = value !== null && typeof value === "object" ? Object.keys(value).length : 1;
  return { path, unit: "fields", offset: 0, of };
}

function asText(value: Json): Left {
  return { path: "", unit: "chars", offset: 0, of: jsonChars(value) };
}

function isUnnamed(key: string, room: number): boolean {
  return key.length + 4 + LEAST_CHARS > room || key.length > MOST_PATH_CHARS / 2;
}

function isEmpty(value: Json): boolean {
  return value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

/** Unlike an assignment, this keeps a field called `__proto__`. */
function toRecord(fields: readonly (readonly [string, Json])[]): Json {
  return Object.fromEntries(fields);
}
