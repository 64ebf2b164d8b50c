import { type KeywordHolds, SCHEMA_KEYWORDS, type SchemaKeyword } from "./schema-keywords.ts";

type SchemaObject = Readonly<Record<string, unknown>>;

/** A schema directly inside another one. `value` is not checked: it may be anything. */
export interface Subschema {
  readonly value: unknown;
  readonly keyword: string;
  readonly row: SchemaKeyword;
  /** Its name or position under a keyword that holds many. */
  readonly key?: string | number;
}

/** Yields the schemas directly inside a schema, in the order of its keywords. See {@link mapSchema}. */
export function* subschemas(schema: SchemaObject): Generator<Subschema> {
  for (const keyword of Object.keys(schema)) {
    const row = SCHEMA_KEYWORDS.get(keyword);
    if (row === undefined || !holdsSchemas(row)) continue;
    const value = schema[keyword];
    if (Array.isArray(value)) {
      for (let key = 0; key < value.length; key += 1) yield { value: value[key], keyword, row, key };
    } else if (row.holds === "schema") {
      yield { value, keyword, row };
    } else if (isSchemaObject(value)) {
      for (const key of Object.keys(value)) {
        if (!isNameList(keyword, value[key])) yield { value: value[key], keyword, row, key };
      }
    }
  }
}

/** How {@link mapSchema} makes the parts of the copy. A part that becomes `undefined` is left out. */
export interface SchemaMapper {
  /** Maps a schema directly inside. `key` is its name or position under a keyword that holds many. */
  subschema(value: unknown, keyword: string, key?: string | number): unknown;
  /** Maps the value of any other keyword. `holds` is absent for a keyword that the table does not have. */
  value(value: unknown, keyword: string, holds: KeywordHolds | undefined): unknown;
}

/**
 * Copies one level of a schema. The mapper recurses where it wants to. A keyword that should hold schemas and
 * holds none, such as an empty `allOf`, is handed to `value`.
 */
export function mapSchema(schema: SchemaObject, mapper: SchemaMapper): Record<string, unknown> {
  const mapped: Record<string, unknown> = {};
  for (const keyword of Object.keys(schema)) {
    setMember(mapped, keyword, mapKeyword(keyword, schema[keyword], mapper));
  }
  return mapped;
}

function mapKeyword(keyword: string, value: unknown, mapper: SchemaMapper): unknown {
  const row = SCHEMA_KEYWORDS.get(keyword);
  if (row === undefined || !holdsSchemas(row)) return mapper.value(value, keyword, row?.holds);
  if (row.holds === "named-schemas") {
    if (!isSchemaObject(value)) return mapper.value(value, keyword, row.holds);
    return mapNamed(keyword, value, mapper);
  }
  if (Array.isArray(value) && value.length > 0) {
    return value.map((part: unknown, index) => mapper.subschema(part, keyword, index));
  }
  const isOne = row.holds === "schema" && (typeof value === "boolean" || isSchemaObject(value));
  return isOne ? mapper.subschema(value, keyword) : mapper.value(value, keyword, row.holds);
}

function mapNamed(keyword: string, schemas: SchemaObject, mapper: SchemaMapper): Record<string, unknown> {
  const mapped: Record<string, unknown> = {};
  for (const name of Object.keys(schemas)) {
    const part = schemas[name];
    const made = isNameList(keyword, part)
      ? mapper.value(part, keyword, "names")
      : mapper.subschema(part, keyword, name);
    setMember(mapped, name, made);
  }
  return mapped;
}

function setMember(target: Record<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) return;
  if (name !== "__proto__") target[name] = value;
  // An assignment would change the prototype instead of adding a member.
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function holdsSchemas({ holds }: SchemaKeyword): boolean {
  return holds === "named-schemas" || holds === "schema" || holds === "schemas";
}

/** `dependencies` of older drafts may list names instead of holding a schema. */
function isNameList(keyword: string, value: unknown): boolean {
  return keyword === "dependencies" && Array.isArray(value);
}

/** Whether the value is an object; schemas may also be `true` or `false`. */
export function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
