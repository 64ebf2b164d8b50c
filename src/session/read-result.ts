import { JSONPathEnvironment, JSONPointer } from "json-p3";
import { RE2JS } from "re2js";
import { z } from "zod";
import { problem } from "../schema/problem.ts";
import type { Json } from "../util/json.ts";

/** Options for reading a stored result, applied in this order: path, grep, fields, offset and limit, count. */
export const readResultSchema = z.strictObject({
  path: z.string().max(1_000).optional().describe("JSON pointer (/a/0) or JSONPath ($.a[*].b)"),
  grep: z.string().min(1).max(500).optional().describe("keep the items or lines that match, any case"),
  fields: z.array(z.string()).max(64).optional().describe("keep these fields of each item"),
  offset: z.int().min(0).optional(),
  limit: z.int().min(1).optional(),
  count: z.boolean().optional().describe("answer only how many there are"),
});
export type ReadResult = z.output<typeof readResultSchema>;

// Patterns inside JSONPath would run on the native regex engine, which a hostile pattern can stall.
const paths = new JSONPathEnvironment();
paths.functionRegister.delete("match");
paths.functionRegister.delete("search");

/** Reads a part of a value: strings by lines, arrays by items, objects by fields. */
export function readResult(value: Json, how: ReadResult): Json {
  const found = how.path === undefined ? value : follow(value, how.path);
  const kept = how.grep === undefined ? found : grep(found, how.grep);
  const picked = how.fields === undefined ? kept : pick(kept, how.fields);
  if (how.count) return { count: sizeOf(picked) };
  if (how.offset === undefined && how.limit === undefined) return picked;
  return slice(picked, how.offset ?? 0, how.limit);
}

function follow(value: Json, path: string): Json {
  try {
    if (path === "" || path.startsWith("/")) return new JSONPointer(path).resolve(value) as Json;
    return paths.query(path, value).values() as Json[];
  } catch (error) {
    const reason = `path ${path}: ${error instanceof Error ? error.message : "cannot be followed"}`;
    throw problem("INVALID_INPUT", { operation: "get", reason });
  }
}

function grep(value: Json, pattern: string): Json {
  const matches = matcher(pattern);
  if (typeof value === "string") return linesOf(value).filter(matches).join("\n");
  if (Array.isArray(value)) return value.filter((item) => matches(textOf(item)));
  if (value === null || typeof value !== "object") return matches(textOf(value)) ? value : null;
  return Object.fromEntries(
    Object.entries(value).filter(([key, field]) => matches(key) || matches(textOf(field))),
  );
}

/** Compiles a linear-time regular expression. Text that is no pattern matches literally. */
function matcher(pattern: string): (text: string) => boolean {
  try {
    const compiled = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
    return (text) => compiled.matcher(text).find();
  } catch {
    const words = pattern.toLowerCase();
    return (text) => text.toLowerCase().includes(words);
  }
}

function pick(value: Json, fields: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((item) => pick(item, fields));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    fields.filter((field) => Object.hasOwn(value, field)).map((field) => [field, value[field]!]),
  );
}

function slice(value: Json, offset: number, limit: number | undefined): Json {
  const end = limit === undefined ? undefined : offset + limit;
  if (typeof value === "string") return linesOf(value).slice(offset, end).join("\n");
  if (Array.isArray(value)) return value.slice(offset, end);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).slice(offset, end));
}

function sizeOf(value: Json): number {
  if (typeof value === "string") return linesOf(value).length;
  if (Array.isArray(value)) return value.length;
  return value !== null && typeof value === "object" ? Object.keys(value).length : 1;
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}
