import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import type { Json } from "../../base/util/json.ts";
import { lazy } from "../../base/util/lazy.ts";
import { nearest } from "../../base/util/nearest.ts";
import { fieldsOf } from "../../base/util/plain-object.ts";
import { readFields, reasonsOf } from "../nouns/json-form.ts";

/** Options for reading a stored result, applied in this order: path, grep, sort, group, select, count, page. */
const schema = lazy(() =>
  z.object({
    path: z.string().max(2_000).optional(),
    grep: z.string().min(1).max(500).optional(),
    /** Fields of each item. A dot leads into a record. */
    select: z.preprocess(toNames, z.array(z.string().min(1)).min(1).max(64)).optional(),
    /** Field to sort by, with a minus in front for descending. */
    sort: z.string().min(1).max(200).optional(),
    /** Field whose values are counted. */
    group: z.string().min(1).max(200).optional(),
    count: z.preprocess(toBoolean, z.boolean()).optional(),
    offset: z.preprocess((value) => toNumber(value, 0), z.int()).optional(),
    limit: z.preprocess((value) => toNumber(value, 1), z.int()).optional(),
    unit: z.preprocess(toUnit, z.enum(["lines", "chars"])).optional(),
  }),
);
export type ReadParams = z.output<ReturnType<typeof schema>>;

const ALIASES: Readonly<Record<string, string>> = {
  fields: "select",
  columns: "select",
  pointer: "path",
  jsonpath: "path",
  pattern: "grep",
  search: "grep",
  sort_by: "sort",
  order_by: "sort",
  group_by: "group",
};

/**
 * Parses options as models send them: numbers and lists may be text.
 *
 * @throws INVALID_INPUT with the nearest name for an unknown option.
 */
export function readParams(handle: string, input: unknown): ReadParams {
  const sent = fieldsOf(input);
  const { shape } = schema();
  const { fields, unknown } = readFields(sent, shape, ALIASES);
  const wrong = unknown.find((name) => (sent[name] ?? "") !== "");
  if (wrong !== undefined) throw unknownOption(handle, wrong, Object.keys(shape));
  const parsed = schema().safeParse(fields);
  if (parsed.success) return parsed.data;
  throw problem("INVALID_INPUT", { operation: handle, reason: reasonsOf(parsed.error) });
}

function unknownOption(handle: string, name: string, names: readonly string[]) {
  const [near] = nearest(name, names);
  const hint = near === undefined ? `use ${names.join(", ")}` : `nearest: ${near}`;
  return problem("INVALID_INPUT", {
    operation: handle,
    reason: `${name} is no option of a stored result; ${hint}`,
  });
}

function toNames(value: unknown): unknown {
  return typeof value === "string"
    ? value
        .split(",")
        .map((name) => name.trim())
        .filter(Boolean)
    : value;
}

function toBoolean(value: unknown): unknown {
  return value === "true" ? true : value === "false" ? false : value;
}

function toNumber(value: unknown, least: number): unknown {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? Math.max(least, Math.floor(number)) : value;
}

function toUnit(value: unknown): unknown {
  return typeof value === "string" && /^char/i.test(value) ? "chars" : value;
}

/** The selected part of a stored result, before paging. */
export interface Selected {
  readonly value: Json;
  /** JSON pointer of the value, if the value occurs unchanged in the result. */
  readonly pointer?: string | undefined;
  /** JSON pointers of its items, if they occur in the result but the value does not. */
  readonly pointers?: readonly (string | undefined)[] | undefined;
}

/** Pointers of the items of a list. */
export function itemPointers({ value, pointer, pointers }: Selected): readonly (string | undefined)[] {
  if (!Array.isArray(value)) return [];
  return pointers ?? value.map((_, at) => (pointer === undefined ? undefined : `${pointer}/${at}`));
}
