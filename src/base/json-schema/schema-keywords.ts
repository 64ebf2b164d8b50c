/**
 * The kind of a keyword's value. Only `schema`, `schemas` and `named-schemas` hold schemas; `data` is instance data, in
 * which members called `properties` or `description` mean nothing.
 */
export type KeywordHolds =
  | "schema"
  | "schemas"
  | "named-schemas"
  | "names"
  | "data"
  | "prose"
  | "text"
  | "number"
  | "flag";

/** One row of {@link SCHEMA_KEYWORDS}. */
export interface SchemaKeyword {
  readonly holds: KeywordHolds;
  /** Its schemas apply to the same instance as the outer schema, not to a part of it. */
  readonly inPlace?: true;
  /** Its schemas may apply many times for one application of the outer schema. */
  readonly repeated?: true;
  /** Whether its schemas apply to items, to members of any name, or to neither. */
  readonly reaches?: "items" | "members";
  /** The type of a schema with this keyword and no `type`. */
  readonly implies?: "object" | "array" | "string" | "number";
  /** The larger of two lower bounds counts, and the smaller of two upper bounds. */
  readonly bound?: "lower" | "upper";
  /** Describes the schema without changing which values it accepts. */
  readonly annotates?: true;
  /** Names the schema or its dialect. */
  readonly identifies?: true;
}

/**
 * The JSON Schema keywords that Keyhole knows: draft 2020-12, other spellings of older drafts, and OpenAPI's `example`
 * and `nullable`. Every walk reads this table, by {@link subschemas} or {@link mapSchema}.
 */
export const SCHEMA_KEYWORDS: ReadonlyMap<string, SchemaKeyword> = new Map<string, SchemaKeyword>([
  ["allOf", { holds: "schemas", inPlace: true }],
  ["anyOf", { holds: "schemas", inPlace: true }],
  ["oneOf", { holds: "schemas", inPlace: true }],
  ["not", { holds: "schema", inPlace: true }],
  ["if", { holds: "schema", inPlace: true }],
  ["then", { holds: "schema", inPlace: true }],
  ["else", { holds: "schema", inPlace: true }],
  ["dependentSchemas", { holds: "named-schemas", inPlace: true }],
  ["dependencies", { holds: "named-schemas", inPlace: true }],
  ["properties", { holds: "named-schemas", implies: "object" }],
  ["patternProperties", { holds: "named-schemas", repeated: true, reaches: "members", implies: "object" }],
  ["additionalProperties", { holds: "schema", repeated: true, reaches: "members", implies: "object" }],
  ["unevaluatedProperties", { holds: "schema", repeated: true, reaches: "members" }],
  ["propertyNames", { holds: "schema", repeated: true, reaches: "members", implies: "object" }],
  ["items", { holds: "schema", repeated: true, reaches: "items", implies: "array" }],
  ["additionalItems", { holds: "schema", repeated: true, reaches: "items" }],
  ["unevaluatedItems", { holds: "schema", repeated: true, reaches: "items" }],
  ["prefixItems", { holds: "schemas", reaches: "items", implies: "array" }],
  ["contains", { holds: "schema", repeated: true, reaches: "items", implies: "array" }],
  ["contentSchema", { holds: "schema" }],
  ["$defs", { holds: "named-schemas", annotates: true }],
  ["definitions", { holds: "named-schemas", annotates: true }],

  ["required", { holds: "names", implies: "object" }],
  ["dependentRequired", { holds: "names" }],

  ["enum", { holds: "data" }],
  ["const", { holds: "data" }],
  ["default", { holds: "data", annotates: true }],
  ["examples", { holds: "data", annotates: true }],
  ["example", { holds: "data", annotates: true }],

  ["title", { holds: "prose", annotates: true }],
  ["description", { holds: "prose", annotates: true }],
  ["$comment", { holds: "prose", annotates: true }],

  ["type", { holds: "text" }],
  ["format", { holds: "text", implies: "string" }],
  ["pattern", { holds: "text", implies: "string" }],
  ["contentEncoding", { holds: "text" }],
  ["contentMediaType", { holds: "text" }],
  ["$ref", { holds: "text" }],
  ["$dynamicRef", { holds: "text" }],
  ["$recursiveRef", { holds: "text" }],
  ["$anchor", { holds: "text", annotates: true }],
  ["$dynamicAnchor", { holds: "text" }],
  ["$schema", { holds: "text", annotates: true, identifies: true }],
  ["$id", { holds: "text", annotates: true, identifies: true }],
  ["id", { holds: "text", identifies: true }],
  ["$vocabulary", { holds: "data", identifies: true }],

  ["minimum", { holds: "number", implies: "number", bound: "lower" }],
  ["maximum", { holds: "number", implies: "number", bound: "upper" }],
  ["exclusiveMinimum", { holds: "number", implies: "number", bound: "lower" }],
  ["exclusiveMaximum", { holds: "number", implies: "number", bound: "upper" }],
  ["multipleOf", { holds: "number", implies: "number" }],
  ["minLength", { holds: "number", implies: "string", bound: "lower" }],
  ["maxLength", { holds: "number", implies: "string", bound: "upper" }],
  ["minItems", { holds: "number", implies: "array", bound: "lower" }],
  ["maxItems", { holds: "number", implies: "array", bound: "upper" }],
  ["minContains", { holds: "number" }],
  ["maxContains", { holds: "number" }],
  ["minProperties", { holds: "number", bound: "lower" }],
  ["maxProperties", { holds: "number", bound: "upper" }],

  ["uniqueItems", { holds: "flag" }],
  ["nullable", { holds: "flag" }],
  ["deprecated", { holds: "flag", annotates: true }],
  ["readOnly", { holds: "flag", annotates: true }],
  ["writeOnly", { holds: "flag", annotates: true }],
]);

/** The keywords whose rows pass the test, in table order. */
export function keywordsWhere(test: (row: SchemaKeyword) => boolean): string[] {
  return [...SCHEMA_KEYWORDS].filter(([, row]) => test(row)).map(([name]) => name);
}
