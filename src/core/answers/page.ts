import { escapePart } from "../../base/json-schema/walk-schema.ts";
import { boundaryBefore, codePointBoundary } from "../../base/util/cut-text.ts";
import type { Json } from "../../base/util/json.ts";
import { type JsonRecord, jsonChars } from "./content.ts";

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
export function toPage(value: Json, maxChars: number, request: PageRequest = {}): ResultPage {
  const page = pageOf(value, maxChars, request);
  if (page.left.length <= MOST_LEFT + 1) return page;
  return { ...page, left: [...page.left.slice(0, MOST_LEFT), asText(value)] };
}

/** How much of a look at both ends is the beginning. */
const HEAD_SHARE = 0.15;

/** A little of the beginning of a text, and its end. What is between is read from `left`. */
export function endsPage(text: string, maxChars: number): ResultPage {
  const head = textPage(text, Math.floor(maxChars * HEAD_SHARE), {});
  const from = codePointBoundary(text, text.length - maxChars + String(head.content).length);
  const line = text.indexOf("\n", from) + 1;
  const tail = text.slice(line > 0 && line < text.length ? line : from);
  return { content: `${head.content}\n… the middle is left out …\n${tail}`, left: head.left };
}

function pageOf(value: Json, maxChars: number, request: PageRequest): ResultPage {
  if (typeof value === "string") return textPage(value, maxChars, request);
  if (request.unit === "chars") return textPage(JSON.stringify(value), maxChars, request);
  if (value === null || typeof value !== "object") return { content: value, left: [] };
  const { offset = 0, limit } = request;
  const keys = Array.isArray(value) ? undefined : Object.keys(value);
  const isWhole = keys && offset === 0 && (limit === undefined || limit >= keys.length);
  const small = isWhole ? smallFields(value as JsonRecord, keys, maxChars) : undefined;
  return small ?? membersPage(value, keys, maxChars, request);
}

/** Items of a list or fields of a record in their order, from an offset on. */
function membersPage(
  value: Json[] | JsonRecord,
  keys: readonly string[] | undefined,
  maxChars: number,
  { offset = 0, limit }: PageRequest,
): ResultPage {
  const of = keys?.length ?? (value as Json[]).length;
  const end = Math.min(of, offset + (limit ?? of));
  const shown: [string, Json][] = [];
  const left: PageRest[] = [];
  let room = maxChars - 2;
  for (let at = offset; at < end; at++) {
    const key = keys?.[at] ?? String(at);
    const member = (value as JsonRecord)[key]!;
    const nameChars = keys ? key.length + 4 : 0;
    const size = jsonChars(member, room) + nameChars;
    if (size <= room) {
      shown.push([key, member]);
      room -= keys ? size : size + 1;
      continue;
    }
    if (shown.length > 0) break;
    // No page has room for such a name: the record can only be read as text.
    if (keys && isUnnamed(key, room)) return { content: {}, left: [asText(value as Json)] };
    const part = partOf(member, key, room - nameChars);
    shown.push([key, part.content]);
    left.push(...part.left);
    break;
  }
  const next = offset + shown.length;
  if (next < of) left.unshift({ path: "", unit: keys ? "fields" : "items", offset: next, of });
  return { content: keys ? Object.fromEntries(shown) : shown.map(([, item]) => item), left };
}

/**
 * The small fields of a record whole, and the beginning of others, in their order. Undefined if too many would have
 * to be named as left out.
 */
function smallFields(record: JsonRecord, keys: readonly string[], maxChars: number): ResultPage | undefined {
  // Too many fields to show or to name: do not measure them.
  if (keys.length > maxChars / LEAST_FIELD_CHARS + MOST_LEFT) return undefined;
  const sizes = keys.map((key) => ({ key, size: jsonChars(record[key]!, maxChars) + key.length + 4 }));
  const shown = new Map<string, Json>();
  const left: PageRest[] = [];
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
  const fields = keys.filter((key) => shown.has(key)).map((key) => [key, shown.get(key)!]);
  return { content: Object.fromEntries(fields), left };
}

/** The beginning of a value inside another one. */
function partOf(value: Json, key: string, maxChars: number): ResultPage {
  const { content, left } = pageOf(value, Math.max(LEAST_CHARS, maxChars), {});
  const within = left.map((one) => ({ ...one, path: `/${escapePart(key)}${one.path}` }));
  const named = within.every(({ path }) => path.length <= MOST_PATH_CHARS);
  return { content, left: named ? within : [{ ...asText(value), path: `/${escapePart(key)}` }] };
}

function startOf(value: Json, path: string): PageRest {
  if (typeof value === "string") return { path, unit: "lines", offset: 0, of: countLines(value) };
  if (Array.isArray(value)) return { path, unit: "items", offset: 0, of: value.length };
  const of = value !== null && typeof value === "object" ? Object.keys(value).length : 1;
  return { path, unit: "fields", offset: 0, of };
}

function asText(value: Json): PageRest {
  return { path: "", unit: "chars", offset: 0, of: jsonChars(value) };
}

function isUnnamed(key: string, room: number): boolean {
  return key.length + 4 + LEAST_CHARS > room || key.length > MOST_PATH_CHARS / 2;
}

function isEmpty(value: Json): boolean {
  return value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

type TextUnit = "lines" | "chars";

/** The unit that an offset counts in. */
type PageUnit = "items" | "fields" | TextUnit;

/** A part of a value that a page leaves out, and where to read on. */
export interface PageRest {
  /** JSON pointer within the value; empty for the value itself. */
  readonly path: string;
  readonly unit: PageUnit;
  /** The first unit that the page leaves out. */
  readonly offset: number;
  readonly of: number;
}

export interface ResultPage {
  readonly content: Json;
  readonly left: readonly PageRest[];
}

export interface PageRequest {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  /** `chars` reads any value as text by characters: a text as it is, anything else as its JSON. */
  readonly unit?: TextUnit | undefined;
}

/**
 * Takes whole lines from a text. A line that is longer than a page is read by characters. Pages by lines are joined
 * by line breaks, pages by characters by nothing.
 */
function textPage(text: string, maxChars: number, { offset = 0, limit, unit }: PageRequest): ResultPage {
  const room = Math.max(1, maxChars - 2);
  const lines = countLines(text);
  // An offset past the last line counts characters: the text may be one long line.
  const byChars = unit === "chars" || (unit === undefined && offset >= lines && offset > 0);
  if (byChars) return charsPage(text, offset, Math.min(room, limit ?? room));
  if (offset >= lines) return { content: "", left: [] };

  const start = lineStart(text, offset);
  const end = limit === undefined ? text.length : Math.max(start, lineStart(text, offset + limit) - 1);
  if (offset + (limit ?? lines) >= lines && text.length - start <= room)
    return { content: text.slice(start), left: [] };
  if (end - start <= room && offset + (limit ?? lines) < lines)
    return linesPage(text, start, end, lines, offset);
  const lastBreak = text.lastIndexOf("\n", start + room);
  // A page that would end early because a long line follows goes on into that line.
  if (lastBreak - start < room / 2) return charsPage(text, start, room);
  return linesPage(text, start, lastBreak, lines, offset);
}

/** An empty text has no lines. */
function countLines(text: string): number {
  if (text === "") return 0;
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

function linesPage(text: string, start: number, end: number, lines: number, offset: number): ResultPage {
  const content = text.slice(start, end);
  const next = offset + Math.max(1, countLines(content));
  return { content, left: [{ path: "", unit: "lines", offset: next, of: lines }] };
}

function charsPage(text: string, offset: number, room: number): ResultPage {
  const start = codePointBoundary(text, Math.min(offset, text.length));
  if (text.length - start <= room) return { content: text.slice(start), left: [] };
  const end = cutBefore(text, start, start + room);
  return {
    content: text.slice(start, end),
    left: [{ path: "", unit: "chars", offset: end, of: text.length }],
  };
}

/** Ends after a line break in the second half, otherwise where no character is split. Always moves on. */
function cutBefore(text: string, start: number, end: number): number {
  const lastBreak = text.lastIndexOf("\n", end - 1) + 1;
  if (lastBreak - start > (end - start) / 2) return lastBreak;
  const cut = boundaryBefore(text, end);
  if (cut > start) return cut;
  const whole = codePointBoundary(text, end);
  return whole > start ? whole : start + 2;
}

function lineStart(text: string, line: number): number {
  let at = 0;
  for (let count = 0; count < line; count++) {
    const next = text.indexOf("\n", at);
    if (next < 0) return text.length + 1;
    at = next + 1;
  }
  return at;
}
