import type { JsonSchema } from "../schema/json-schema.ts";
import { isSchemaObject, mapSchema, type SchemaMapper } from "../schema/walk-schema.ts";

/** Keywords that guard an input but tell a model nothing that it needs to write one. */
const SILENT = new Set(["$schema", "$id", "propertyNames", "minLength", "maxLength", "minItems", "maxItems"]);
/** Bounds that any sensible number keeps. */
const NATURAL: ReadonlyMap<string, (bound: number) => boolean> = new Map([
  ["minimum", (bound) => bound === 0 || bound === 1 || bound <= -(2 ** 31)],
  ["exclusiveMinimum", (bound) => bound === 0 || bound <= -(2 ** 31)],
  ["maximum", (bound) => bound >= 2 ** 31 - 1],
  ["exclusiveMaximum", (bound) => bound >= 2 ** 31 - 1],
]);

/** Copies a schema for a model to read, without the keywords that only a validator needs. */
export function compactSchema(schema: JsonSchema): JsonSchema {
  return compact(schema) as JsonSchema;
}

function compact(schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema;
  return mapSchema(schema, Object.hasOwn(schema, "description") ? DESCRIBED : UNDESCRIBED);
}

const UNDESCRIBED: SchemaMapper = {
  subschema: (part, keyword) => (SILENT.has(keyword) ? undefined : compact(part)),
  value: (value, keyword) => (isSilent(keyword, value) ? undefined : value),
};

/** A description says better than a pattern what a text has to look like. */
const DESCRIBED: SchemaMapper = {
  ...UNDESCRIBED,
  value: (value, keyword, holds) =>
    keyword === "pattern" ? undefined : UNDESCRIBED.value(value, keyword, holds),
};

function isSilent(keyword: string, value: unknown): boolean {
  if (SILENT.has(keyword)) return true;
  if (keyword === "default") return value === "" || value === false || typeof value === "number";
  return typeof value === "number" && (NATURAL.get(keyword)?.(value) ?? false);
}
