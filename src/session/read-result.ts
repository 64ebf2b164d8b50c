import { JSONPathEnvironment } from "json-p3";
import { problem } from "../schema/problem.ts";
import { escapePart, unescapePart } from "../schema/resolve-pointer.ts";
import type { Json } from "../util/json.ts";
import { nearest } from "../util/nearest.ts";
import { grepResult } from "./grep-result.ts";
import type { ReadParams } from "./read-params.ts";
import { group, select, sort } from "./rows.ts";
import type { Selected } from "./selected.ts";

// Patterns inside JSONPath would run on the native regex engine, which a hostile pattern can stall.
const paths = new JSONPathEnvironment();
paths.functionRegister.delete("match");
paths.functionRegister.delete("search");

/**
 * Reads a part of a value: texts by lines, lists by items, records by fields.
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

/** A record with one list stands for that list when its rows are asked for, as answers of APIs do. */
function rowsOf(selected: Selected, how: ReadParams): Selected {
  const { value, pointer } = selected;
  if (value === null || typeof value !== "object" || Array.isArray(value)) return selected;
  if (how.select?.every((name) => Object.hasOwn(value, name.split(".")[0]!)) && how.sort === undefined)
    return selected;
  const lists = Object.entries(value).filter(([, field]) => Array.isArray(field));
  const [only, another] = lists;
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
      const keys = at !== null && typeof at === "object" && !Array.isArray(at) ? Object.keys(at) : [];
      const [near] = nearest(key, keys.slice(0, 1_000));
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
  return value !== null && typeof value === "object" ? Object.keys(value).length : 1;
}
