import { type KeywordHolds, keywordsWhere } from "../../base/json-schema/schema-keywords.ts";
import { mapSchema } from "../../base/json-schema/walk-schema.ts";
import { field, fieldsOf, isPlainObject, listOf, type PlainObject } from "../../base/util/plain-object.ts";
import { findTarget, partsOf, resolveOrNothing } from "./load-document.ts";

/** Converts the schemas of one operation to JSON Schema 2020-12, with shared parts in `$defs`. */
export type SchemaConverter = ReturnType<typeof createSchemaConverter>;

/** Most schemas to convert. */
const MAX_SCHEMAS = 1_900;

const TYPES = new Set<unknown>(["string", "number", "integer", "boolean", "object", "array", "null", "file"]);
/** Accepted values of keywords without schemas. Documents often have invalid ones, such as `enum: null`. */
const FITS: Partial<Record<KeywordHolds, (value: unknown) => boolean>> = {
  number: (value) => Number.isFinite(value),
  flag: (value) => typeof value === "boolean",
  text: (value) => typeof value === "string",
  prose: (value) => typeof value === "string",
  data: () => true,
};
const FITS_KEYWORD = new Map<string, (value: unknown) => boolean>([
  ["type", (value) => [value].flat().every((type) => TYPES.has(type))],
  ["exclusiveMinimum", (value) => Number.isFinite(value) || typeof value === "boolean"],
  ["exclusiveMaximum", (value) => Number.isFinite(value) || typeof value === "boolean"],
  ["enum", isFilledList],
  ["examples", isFilledList],
  ["dependentRequired", (value) => isPlainObject(value) && Object.values(value).every(Array.isArray)],
]);
/** Converted separately, or useless to a caller. */
const SKIPPED = new Set([
  ...keywordsWhere(({ identifies }) => identifies === true),
  ...["$ref", "$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor", "$comment"],
  ...["example", "nullable", "readOnly", "writeOnly"],
]);
/** Schemas under these keys move, so references to them are rewritten. */
const HOISTED = new Set(["$defs", "definitions"]);
const EXAMPLE_CHARS = 500;
const DESCRIPTION_CHARS = 1_000;

/** Converts the schemas of a document. Parts deeper than `maxDepth` below the arguments take any value. */
export function createSchemaConverter(root: unknown, maxDepth: number) {
  const names = new Map<string, string>();
  const pending = new Map<string, number>();
  const done = new Map<string, unknown>();
  const keepsSiblings = !String(field(root, "openapi")).startsWith("3.0");
  let count = 0;
  let pruned = false;

  function convert(schema: unknown, depth: number): PlainObject | boolean {
    if (typeof schema === "boolean") return schema;
    count += 1;
    const source = withoutHoisted(fieldsOf(schema));
    if (depth > maxDepth || count > MAX_SCHEMAS) {
      pruned = true;
      return {};
    }
    const reference = field(source, "$ref");
    if (typeof reference === "string") return convertReference(reference, source, depth);
    return convertPlain(source, depth);
  }

  function convertReference(reference: string, source: PlainObject, depth: number): PlainObject {
    const name = names.get(reference) ?? freeName(reference, new Set(names.values()));
    if (depth + 1 > maxDepth) {
      pruned = true;
      return {};
    }
    names.set(reference, name);
    if (!done.has(reference))
      pending.set(reference, Math.min(depth + 1, pending.get(reference) ?? depth + 1));
    const target = { $ref: `#/$defs/${name}` };
    if (!keepsSiblings) return target;
    const { $ref: _, ...siblings } = source;
    return { ...(convertPlain(siblings, depth) as object), ...target };
  }

  function convertPlain(source: PlainObject, depth: number): PlainObject {
    const dropped = readOnlyNames(source);
    const converted = mapSchema(source, {
      subschema: (part, keyword, key) =>
        keyword === "properties" && dropped.has(key) ? undefined : convert(part, depth + 1),
      value: (value, keyword, holds) => {
        if (keyword === "required") return listOf(value).filter((name) => !dropped.has(name));
        return isTaken(value, keyword, holds) ? copied(keyword, value) : undefined;
      },
    });
    return modernised(converted, source);
  }

  function readOnlyNames(source: PlainObject): ReadonlySet<unknown> {
    const properties = Object.entries(fieldsOf(source.properties));
    return new Set(properties.filter(([, part]) => isReadOnly(root, part)).map(([name]) => name));
  }

  return {
    convert,
    /** Everything referenced, once each. */
    definitions: (): Record<string, unknown> => {
      for (let next = nearest(pending); next !== undefined; next = nearest(pending)) {
        const [reference, depth] = next;
        pending.delete(reference);
        done.set(reference, {});
        done.set(reference, convert(findTarget(root, reference), depth));
      }
      return Object.fromEntries([...done].map(([reference, schema]) => [names.get(reference)!, schema]));
    },
    get pruned() {
      return pruned;
    },
    get overflowed() {
      return count > MAX_SCHEMAS;
    },
  };
}

/** The least deep first, so that shared parts keep the detail of their nearest use. */
function nearest(pending: ReadonlyMap<string, number>): [string, number] | undefined {
  let least: [string, number] | undefined;
  for (const entry of pending) if (least === undefined || entry[1] < least[1]) least = entry;
  return least;
}

function isReadOnly(root: unknown, part: unknown): boolean {
  return field(part, "readOnly") === true || resolveOrNothing(root, part).readOnly === true;
}

/** Converts keywords of OpenAPI 3.0: `nullable`, exclusive flags, one `example`, binary strings. */
function modernised(schema: Record<string, unknown>, source: PlainObject): PlainObject {
  const result = { ...schema };
  for (const [flag, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof result[flag] !== "boolean") continue;
    const isExclusive = result[flag] === true && typeof result[bound] === "number";
    delete result[flag];
    if (!isExclusive) continue;
    result[flag] = result[bound];
    delete result[bound];
  }
  if (result.type === "file" || result.format === "binary" || result.format === "byte") {
    result.type = "string";
    result.contentEncoding = "base64";
    delete result.format;
  }
  const example = source.example;
  if (example !== undefined && result.examples === undefined && isSmall(example)) result.examples = [example];
  if (Array.isArray(result.required) && result.required.length === 0) delete result.required;
  if ("default" in result) {
    // In the description, not filled in: the API knows its defaults, and a partial update must not send them.
    if (isSmall(result.default)) result.description = withDefault(result.description, result.default);
    delete result.default;
  }
  return source.nullable === true ? nullable(result) : result;
}

function nullable(schema: Record<string, unknown>): PlainObject {
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum = [...schema.enum, null];
  if (typeof schema.type === "string") return { ...schema, type: [schema.type, "null"] };
  const { title, description, ...rest } = schema;
  if (!["allOf", "anyOf", "oneOf", "$ref"].some((keyword) => keyword in rest)) return schema;
  const prose = Object.entries({ title, description }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(prose), anyOf: [rest, { type: "null" }] };
}

function withDefault(description: unknown, value: unknown): string {
  const hint = `Default: ${JSON.stringify(value)}.`;
  return typeof description === "string" && description !== "" ? `${description} ${hint}` : hint;
}

function copied(keyword: string, value: unknown): unknown {
  if (keyword === "description" && typeof value === "string")
    return value.slice(0, DESCRIPTION_CHARS).toWellFormed();
  if (keyword === "examples") return listOf(value).filter(isSmall).slice(0, 3);
  return value;
}

function isTaken(value: unknown, keyword: string, holds: KeywordHolds | undefined): boolean {
  if (holds === undefined || SKIPPED.has(keyword)) return false;
  return (FITS_KEYWORD.get(keyword) ?? FITS[holds])?.(value) ?? false;
}

function withoutHoisted(source: PlainObject): PlainObject {
  return Object.fromEntries(Object.entries(source).filter(([keyword]) => !HOISTED.has(keyword)));
}

function isFilledList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function isSmall(value: unknown): boolean {
  return (JSON.stringify(value) ?? "").length <= EXAMPLE_CHARS;
}

function freeName(reference: string, taken: ReadonlySet<string>): string {
  const last = partsOf(reference).at(-1) ?? "root";
  const base = last.replace(/[^A-Za-z0-9_.-]/g, "_").slice(0, 80) || "schema";
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}_${number}`;
    if (!taken.has(name)) return name;
  }
}
