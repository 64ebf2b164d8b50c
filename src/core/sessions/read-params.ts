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
    /** Fields of each item; dots lead into records. */
    select: z.preprocess(toNames, z.array(z.string().min(1)).min(1).max(64)).optional(),
    /** A field; a minus before it sorts from high to low. */
    sort: z.string().min(1).max(200).optional(),
    /** Counts the items for each value of a field. */
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
 * Reads options as models send them, numbers and lists also as text.
 *
 * @throws INVALID_INPUT with the nearest name for an unknown option.
 */
export function readParams(handle: string, given: unknown): ReadParams {
  const sent = fieldsOf(given);
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

/** The part of a stored result that is read, before it is cut into pages. */
export interface Selected {
  readonly value: Json;
  /** JSON pointer of the value in the result, if it is a part of it as it is. */
  readonly pointer?: string | undefined;
  /** JSON pointers of its items where they are parts of the result and the value itself is not. */
  readonly pointers?: readonly (string | undefined)[] | undefined;
}

/** The pointers of a list's items. */
export function itemPointers({ value, pointer, pointers }: Selected): readonly (string | undefined)[] {
  if (!Array.isArray(value)) return [];
  return pointers ?? value.map((_, at) => (pointer === undefined ? undefined : `${pointer}/${at}`));
}
