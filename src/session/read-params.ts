import { z } from "zod";
import { problem } from "../schema/problem.ts";
import { isFields } from "../util/fields.ts";
import { lazy } from "../util/lazy.ts";
import { nearest } from "../util/nearest.ts";

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
 * Reads options as models send them: numbers and lists as text, `null` and empty fields as absent.
 *
 * @throws INVALID_INPUT with the nearest name for an unknown option.
 */
export function readParams(handle: string, given: unknown): ReadParams {
  const fields: Record<string, unknown> = {};
  const names = Object.keys(schema().shape);
  for (const [name, value] of Object.entries(isFields(given) ? given : {})) {
    if (value === null || value === undefined || (value === "" && name !== "path")) continue;
    const known = names.includes(name) ? name : Object.hasOwn(ALIASES, name) ? ALIASES[name]! : undefined;
    if (known === undefined) throw unknownOption(handle, name, names);
    fields[known] ??= value;
  }
  const parsed = schema().safeParse(fields);
  if (parsed.success) return parsed.data;
  const reason = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  throw problem("INVALID_INPUT", { operation: handle, reason });
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
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? Math.max(least, Math.floor(number)) : value;
}

function toUnit(value: unknown): unknown {
  return typeof value === "string" && /^char/i.test(value) ? "chars" : value;
}
