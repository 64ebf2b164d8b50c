import { isPlainObject, type PlainObject, setMember } from "../util/plain-object.ts";
import { type KeywordHolds, SCHEMA_KEYWORDS, type SchemaKeyword } from "./schema-keywords.ts";

/** A schema directly inside another. `value` is unchecked and may be anything. */
export interface Subschema {
  readonly value: unknown;
  readonly keyword: string;
  readonly row: SchemaKeyword;
  /** Its name or position under a keyword that holds several. */
  readonly key?: string | number;
}

/** Yields the schemas directly inside a schema, in the order of keywords. See {@link mapSchema}. */
export function* subschemas(schema: PlainObject): Generator<Subschema> {
  for (const keyword of Object.keys(schema)) {
    const row = SCHEMA_KEYWORDS.get(keyword);
    if (row === undefined || !holdsSchemas(row)) continue;
    const value = schema[keyword];
    if (Array.isArray(value)) {
      for (let key = 0; key < value.length; key += 1) yield { value: value[key], keyword, row, key };
    } else if (row.holds === "schema") {
      yield { value, keyword, row };
    } else if (isPlainObject(value)) {
      for (const key of Object.keys(value)) {
        if (!isNameList(keyword, value[key])) yield { value: value[key], keyword, row, key };
      }
    }
  }
}

/** Creates the parts of the copy for {@link mapSchema}. A part that becomes `undefined` is left out. */
export interface SchemaMapper {
  /** Maps a direct subschema. `key` is its name or position under a keyword that holds several. */
  subschema(value: unknown, keyword: string, key?: string | number): unknown;
  /** Maps the value of any other keyword. `holds` is absent for unknown keywords. */
  value(value: unknown, keyword: string, holds: KeywordHolds | undefined): unknown;
}

/** Copies one level of a schema; the mapper recurses. `value` gets keywords without schemas (an empty `allOf`). */
export function mapSchema(schema: PlainObject, mapper: SchemaMapper): Record<string, unknown> {
  const mapped: Record<string, unknown> = {};
  for (const keyword of Object.keys(schema)) {
    setDefined(mapped, keyword, mapKeyword(keyword, schema[keyword], mapper));
  }
  return mapped;
}

function mapKeyword(keyword: string, value: unknown, mapper: SchemaMapper): unknown {
  const row = SCHEMA_KEYWORDS.get(keyword);
  if (row === undefined || !holdsSchemas(row)) return mapper.value(value, keyword, row?.holds);
  if (row.holds === "named-schemas") {
    if (!isPlainObject(value)) return mapper.value(value, keyword, row.holds);
    return mapNamed(keyword, value, mapper);
  }
  if (Array.isArray(value) && value.length > 0) {
    return value.map((part: unknown, index) => mapper.subschema(part, keyword, index));
  }
  const isOne = row.holds === "schema" && (typeof value === "boolean" || isPlainObject(value));
  return isOne ? mapper.subschema(value, keyword) : mapper.value(value, keyword, row.holds);
}

function mapNamed(keyword: string, schemas: PlainObject, mapper: SchemaMapper): Record<string, unknown> {
  const mapped: Record<string, unknown> = {};
  for (const name of Object.keys(schemas)) {
    const part = schemas[name];
    const copy = isNameList(keyword, part)
      ? mapper.value(part, keyword, "names")
      : mapper.subschema(part, keyword, name);
    setDefined(mapped, name, copy);
  }
  return mapped;
}

function setDefined(target: Record<string, unknown>, name: string, value: unknown): void {
  if (value !== undefined) setMember(target, name, value);
}

function holdsSchemas({ holds }: SchemaKeyword): boolean {
  return holds === "named-schemas" || holds === "schema" || holds === "schemas";
}

/** `dependencies` of older drafts may list names instead of holding a schema. */
function isNameList(keyword: string, value: unknown): boolean {
  return keyword === "dependencies" && Array.isArray(value);
}

/** Finds the target of a URI fragment such as `/$defs/node`. Undefined if it does not exist. */
export function resolvePointer(root: unknown, fragment: string): unknown {
  const parts = pointerParts(fragment);
  if (parts === undefined) return undefined;
  let at: unknown = root;
  for (const key of parts) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}

/** The decoded keys of a JSON pointer in a URI fragment. Undefined if one cannot be decoded. */
export function pointerParts(fragment: string): string[] | undefined {
  try {
    // Decode each part separately, like the validator: an encoded slash belongs to a key.
    return fragment.split("/").slice(1).map(decodeURIComponent).map(unescapePart);
  } catch {
    return undefined;
  }
}

/** Undoes the escapes of a JSON pointer's part. */
export function unescapePart(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Escapes a key for a JSON pointer. See {@link unescapePart}. */
export function escapePart(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
