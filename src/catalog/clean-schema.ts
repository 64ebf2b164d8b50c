import type { JsonSchema } from "../schema/json-schema.ts";
import type { KeywordHolds } from "../schema/schema-keywords.ts";
import { isSchemaObject, mapSchema, type SchemaMapper } from "../schema/walk-schema.ts";
import { hidesText, toVisibleText } from "../util/visible-text.ts";

const TEXT_CHARS = 16_384;

/**
 * Copies a schema with nothing in it that a reader cannot see. Prose is cleaned and cut. Data that hides text is
 * left out, as are overlong defaults and examples: the tool knows its defaults itself. The schema must have
 * passed `readSchema`, which bounds its depth and refuses hidden text in the names and choices of a call.
 */
export function cleanSchema(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, CLEANER);
}

const CLEANER: SchemaMapper = {
  subschema: (part, _keyword, key) =>
    typeof key === "string" && hidesText(key) ? undefined : cleanPart(part),
  value: cleanValue,
};

/** Unknown keywords may hold schemas that references lead to, so whatever is in them is read as one. */
function cleanPart(part: unknown): unknown {
  if (typeof part === "string") return toVisibleText(part, TEXT_CHARS);
  if (Array.isArray(part)) return part.map(cleanPart);
  return isSchemaObject(part) ? mapSchema(part, CLEANER) : part;
}

function cleanValue(value: unknown, keyword: string, holds: KeywordHolds | undefined): unknown {
  if (holds === undefined) return hidesText(keyword) ? undefined : cleanPart(value);
  if (keyword === "examples" && Array.isArray(value)) {
    const shown = value.filter(isShown);
    return shown.length > 0 || value.length === 0 ? shown : undefined;
  }
  if (keyword === "default" || keyword === "example") return isShown(value) ? value : undefined;
  if (holds === "data" || holds === "names" || keyword === "pattern")
    return hidesData(value) ? undefined : value;
  return typeof value === "number" || typeof value === "boolean" ? value : cleanPart(value);
}

function isShown(value: unknown): boolean {
  if (typeof value === "string") return value.length <= TEXT_CHARS && !hidesText(value);
  if (typeof value !== "object" || value === null) return true;
  return JSON.stringify(value).length <= TEXT_CHARS && !hidesData(value);
}

/** Whether a text, or a name or text anywhere inside a value of bounded depth, has invisible characters. */
export function hidesData(value: unknown): boolean {
  if (typeof value === "string") return hidesText(value);
  if (Array.isArray(value)) return value.some(hidesData);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, part]) => hidesText(name) || hidesData(part));
}
