import { JSONPathEnvironment } from "json-p3";
import { escapePart, unescapePart } from "../../base/json-schema/walk-schema.ts";
import { problem } from "../../base/problems/problem.ts";
import { cutText } from "../../base/util/cut-text.ts";
import type { Json } from "../../base/util/json.ts";
import { nearest } from "../../base/util/nearest.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import { toPlainText } from "../nouns/plain-text.ts";
import { grepResult } from "./grep-result.ts";
import { itemPointers, type ReadParams, type Selected } from "./read-params.ts";

// Patterns inside JSONPath would use the native regex engine, which a hostile pattern can stall.
const paths = new JSONPathEnvironment();
paths.functionRegister.delete("match");
paths.functionRegister.delete("search");

/**
 * Selects a part of a value: lines of a text, items of a list, fields of a record.
 *
 * @throws INVALID_INPUT for a path, field or pattern that does not fit the value.
 */
export function readResult(value: Json, how: ReadParams): Selected {
  let selected: Selected = how.path === undefined ? { value, pointer: "" } : follow(value, how.path);
  if (how.sort !== undefined || how.group !== undefined || how.select !== undefined || how.count)
    selected = rowsOf(selected, how);
  if (how.grep !== undefined) selected = grepResult(selected, how.grep);
  if (how.sort !== undefined) selected = sort(selected, how.sort);
  if (how.group !== undefined) selected = group(selected, how.group);
  if (how.select !== undefined) selected = select(selected, how.select);
  return how.count ? { value: { count: sizeOf(selected.value) } } : selected;
}

/** A record with one list counts as that list when rows are wanted, as in responses of APIs. */
function rowsOf(selected: Selected, how: ReadParams): Selected {
  const { value, pointer } = selected;
  if (!isPlainObject(value)) return selected;
  if (how.select?.every((name) => Object.hasOwn(value, name.split(".")[0]!)) && how.sort === undefined)
    return selected;
  const [only, another] = Object.entries(value).filter(([, field]) => Array.isArray(field));
  if (!only || another) return selected;
  return { value: only[1], pointer: pointer === undefined ? undefined : `${pointer}/${escapePart(only[0])}` };
}

function follow(value: Json, path: string): Selected {
  if (path === "" || path.startsWith("/")) return { value: resolve(value, path), pointer: path };
  try {
    const nodes = paths.query(path, value).nodes;
    return {
      value: nodes.map((node) => node.value as Json),
      pointers: nodes.map((node) => node.location.map((key) => `/${escapePart(String(key))}`).join("")),
    };
  } catch (error) {
    throw badPath(path, error instanceof Error ? error.message : "cannot be followed");
  }
}

function resolve(value: Json, pointer: string): Json {
  let at = value;
  for (const part of pointer.split("/").slice(1)) {
    const key = unescapePart(part);
    const next = stepInto(at, key);
    if (next === undefined) {
      const [near] = nearest(key, (isPlainObject(at) ? Object.keys(at) : []).slice(0, 1_000));
      throw badPath(pointer, `it has no ${key}${near === undefined ? "" : `; nearest: ${near}`}`);
    }
    at = next;
  }
  return at;
}

function stepInto(value: Json, key: string): Json | undefined {
  if (value === null || typeof value !== "object") return undefined;
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function badPath(path: string, reason: string) {
  return problem("INVALID_INPUT", { operation: "get", reason: `path ${path}: ${reason}` });
}

function sizeOf(value: Json): number {
  if (typeof value === "string") return value === "" ? 0 : value.split("\n").length;
  if (Array.isArray(value)) return value.length;
  return isPlainObject(value) ? Object.keys(value).length : 1;
}

const SEEN_ROWS = 1_000;
const GROUP_CHARS = 200;
const DESCENDING = /^-|(?:\s+|:)desc(?:ending)?$/i;
const ORDER = /^[-+]|(?:\s+|:)(?:desc|asc)(?:ending)?$/gi;

/** Sorts rows by a field: numbers, then texts, then rows without it. */
function sort(selected: Selected, order: string): Selected {
  const name = order.replaceAll(ORDER, "").trim();
  const rows = toRows(selected, "sort", [name]);
  const sign = DESCENDING.test(order) ? -1 : 1;
  const pointers = itemPointers(selected);
  const keyed = rows.map((row, at) => ({ row, pointer: pointers[at], key: fieldOf(row, name) ?? null }));
  keyed.sort(({ key: one }, { key: other }) => {
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return sign * compare(one, other);
  });
  return { value: keyed.map(({ row }) => row), pointers: keyed.map(({ pointer }) => pointer) };
}

/** Counts rows by the value of a field, most frequent first. */
function group(selected: Selected, name: string): Selected {
  const counts = new Map<string, { value: Json; count: number }>();
  for (const row of toRows(selected, "group", [name])) {
    const value = fieldOf(row, name) ?? null;
    const key = JSON.stringify(value);
    counts.set(key, { value, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const groups = [...counts.values()].sort((one, other) => other.count - one.count);
  return { value: groups.map(({ value, count }) => ({ [name]: shortened(value), count })) };
}

/** Keeps these fields of a record, or of each row. */
function select(selected: Selected, names: readonly string[]): Selected {
  const { value } = selected;
  const isRecord = isPlainObject(value);
  const rows = toRows(isRecord ? { value: [value] } : selected, "select", names);
  const picked = rows.map((row) => pick(row, names));
  // A dotted name becomes a new field of the answer, so it has no pointers.
  const pointers = names.some((name) => name.includes(".")) ? undefined : itemPointers(selected);
  return isRecord ? { value: picked[0]! } : { value: picked, pointers };
}

function pick(row: Json, names: readonly string[]): Json {
  if (!isPlainObject(row)) return row;
  return Object.fromEntries(
    names.flatMap((name) => {
      const field = fieldOf(row, name);
      return field === undefined ? [] : [[name, field] as const];
    }),
  );
}

function toRows({ value }: Selected, option: string, names: readonly string[]): Json[] {
  const fail = (reason: string) =>
    problem("INVALID_INPUT", { operation: "get", reason: `${option}: ${reason}` });
  if (!Array.isArray(value)) throw fail("it needs a list; lead to one with path");
  if (value.length === 0) return value;
  const seen = value.slice(0, SEEN_ROWS);
  for (const name of names) {
    if (seen.some((row) => fieldOf(row, name) !== undefined)) continue;
    if (value.slice(SEEN_ROWS).some((row) => fieldOf(row, name) !== undefined)) continue;
    const fieldNames = new Set(seen.flatMap((row) => keysOf(row)));
    const near = nearest(name, fieldNames);
    const hint = near.length > 0 ? `nearest: ${near.join(", ")}` : `fields: ${listed(fieldNames)}`;
    throw fail(`no item has the field ${cutText(name, 80)}; ${hint}`);
  }
  return value;
}

/** The field of this name, or of a path of names with dots. */
function fieldOf(row: Json, name: string): Json | undefined {
  if (!isPlainObject(row)) return undefined;
  if (Object.hasOwn(row, name)) return row[name];
  const dot = name.indexOf(".");
  if (dot < 1 || !Object.hasOwn(row, name.slice(0, dot))) return undefined;
  return fieldOf(row[name.slice(0, dot)]!, name.slice(dot + 1));
}

/** Names of fields, including those of nested records. */
function keysOf(row: Json): string[] {
  if (!isPlainObject(row)) return [];
  return Object.entries(row).flatMap(([key, field]) => [
    key,
    ...(isPlainObject(field) ? Object.keys(field).map((inner) => `${key}.${inner}`) : []),
  ]);
}

function listed(names: Iterable<string>): string {
  return cutText([...names].slice(0, 40).join(", "), 400);
}

function compare(one: Json, other: Json): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one === "number") return -1;
  if (typeof other === "number") return 1;
  const [left, right] = [toPlainText(one), toPlainText(other)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function shortened(value: Json): Json {
  const text = toPlainText(value);
  return text.length > GROUP_CHARS ? cutText(text, GROUP_CHARS) : value;
}
