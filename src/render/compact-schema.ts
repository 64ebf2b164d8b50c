import type { JsonSchema } from "../schema/json-schema.ts";

/** What guards an input but tells a model nothing that it needs to write one. */
const SILENT = new Set(["$schema", "$id", "propertyNames", "minLength", "maxLength", "minItems", "maxItems"]);
/** Bounds that any sensible number keeps. */
const NATURAL: Readonly<Record<string, (bound: number) => boolean>> = {
  minimum: (bound) => bound === 0 || bound === 1 || bound <= -(2 ** 31),
  exclusiveMinimum: (bound) => bound === 0 || bound <= -(2 ** 31),
  maximum: (bound) => bound >= 2 ** 31 - 1,
  exclusiveMaximum: (bound) => bound >= 2 ** 31 - 1,
};
/** Their values are schemas by name. */
const BY_NAME = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Their values are data. */
const DATA = new Set(["enum", "const", "default", "examples", "required", "dependentRequired"]);

/** A schema for a model to read: without what only whoever checks the input needs. */
export function compactSchema(schema: JsonSchema): JsonSchema {
  return compact(schema) as JsonSchema;
}

function compact(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(compact);
  if (schema === null || typeof schema !== "object") return schema;
  // What a text has to look like is said better in words.
  const isTold = "description" in schema;
  const kept = Object.entries(schema).filter(
    ([keyword, value]) => !isSilent(keyword, value) && !(isTold && keyword === "pattern"),
  );
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, compactValue(keyword, value)]));
}

function isSilent(keyword: string, value: unknown): boolean {
  if (SILENT.has(keyword)) return true;
  if (keyword === "default") return value === "" || value === false || typeof value === "number";
  return typeof value === "number" && Object.hasOwn(NATURAL, keyword) && NATURAL[keyword]!(value);
}

function compactValue(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return value;
  if (!BY_NAME.has(keyword) || value === null || typeof value !== "object") return compact(value);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, compact(schema)]));
}
