import { isPlainObject, listOf, type PlainObject } from "../util/plain-object.ts";
import { fits } from "./example-args.ts";
import type { RegexEngine } from "./regex-engine.ts";
import type { GraphSchema, SchemaNode } from "./schema-graph.ts";
import { keywordsWhere } from "./schema-keywords.ts";

/** The keyword that meters the pieces of a prepared schema. */
export const WEIGHT = "keyholeWeight";

/** A pattern that cannot be checked. */
export interface PatternWarning {
  readonly field: string;
  readonly text: string;
}

/** Cost of a check: mostly the error that it may create. */
const CHECK_WEIGHT = 8;
/** Cost of entering a part, besides its checks. */
const CALL_WEIGHT = 4;
/** Cost of comparing with a choice. */
const [TEXT_WEIGHT, VALUE_WEIGHT] = [1 / 8, 1];
const ANCHOR = /^#([A-Za-z_][-A-Za-z0-9._]*)$/;
/** Ids would clash between schemas, annotations may have any shape, and `$async` would change the validator. */
const DROPPED = [
  ...keywordsWhere(({ identifies }) => identifies === true),
  ...keywordsWhere(({ annotates, holds }) => annotates === true && (holds === "prose" || holds === "flag")),
  ...["example", "examples", "$async"],
];

/** Rewrites a private schema for the validator: to draft 2020-12, metered, without uncheckable patterns and formats. */
export function prepareSchema(
  nodes: readonly SchemaNode[],
  engine: RegexEngine,
  formats: ReadonlyMap<string, unknown>,
): PatternWarning[] {
  const weights = weigh(nodes);
  const warnings: PatternWarning[] = [];
  let evaluatesAll = true;
  for (const [index, { schema, field, guarded }] of nodes.entries()) {
    dropKeywords(schema, formats);
    modernize(schema);
    respellPrototype(schema);
    dropUnsafeDefaults(schema);
    warnings.push(...dropPattern(schema, field, engine));
    const dropped = dropPatternProperties(schema, field, engine);
    if (dropped.length > 0) evaluatesAll = false;
    warnings.push(...dropped);
    if (guarded && Object.keys(schema).length > 0) schema[WEIGHT] = weights[index]! + CALL_WEIGHT;
  }
  // Names that only a dropped pattern covered would count as unevaluated.
  if (!evaluatesAll) for (const { schema } of nodes) delete schema.unevaluatedProperties;
  return warnings;
}

/** Computes the cost of each node, without nodes that are metered separately. */
function weigh(nodes: readonly SchemaNode[]): number[] {
  const weights = nodes.map(
    ({ schema }) => CHECK_WEIGHT + listOf(schema.required).length + weighChoices(schema.enum),
  );
  for (let index = nodes.length - 1; index > 0; index -= 1) {
    const { parent, guarded } = nodes[index]!;
    if (parent !== -1 && !guarded) weights[parent]! += weights[index]!;
  }
  return weights;
}

function weighChoices(choices: unknown): number {
  const each = listOf(choices).map((choice) => (typeof choice === "object" ? VALUE_WEIGHT : TEXT_WEIGHT));
  return each.reduce((sum, weight) => sum + weight, 0);
}

function dropKeywords(schema: GraphSchema, formats: ReadonlyMap<string, unknown>): void {
  const anchor = typeof schema.$id === "string" ? ANCHOR.exec(schema.$id)?.[1] : undefined;
  for (const keyword of DROPPED) delete schema[keyword];
  if (anchor !== undefined) schema.$anchor ??= anchor;
  if (typeof schema.format === "string" && !formats.has(schema.format)) delete schema.format;
}

/** Converts tuples and exclusive limits of older drafts, and drops a `nullable` without type. */
function modernize(schema: GraphSchema): void {
  if (Array.isArray(schema.items)) {
    if (schema.items.length > 0) schema.prefixItems = schema.items;
    delete schema.items;
    if (schema.additionalItems !== undefined) schema.items = schema.additionalItems;
  }
  delete schema.additionalItems;
  for (const [flag, limit] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof schema[flag] !== "boolean") continue;
    const exclusive = schema[flag] && typeof schema[limit] === "number";
    if (exclusive) schema[flag] = schema[limit];
    else delete schema[flag];
    if (exclusive) delete schema[limit];
  }
  if (schema.nullable !== undefined && schema.type === undefined) delete schema.nullable;
}

/** The validator ignores a property named `__proto__`, unless a pattern names it. */
function respellPrototype(schema: GraphSchema): void {
  const { properties } = schema;
  if (typeof properties !== "object" || properties === null || !Object.hasOwn(properties, "__proto__"))
    return;
  const prototype = Object.getOwnPropertyDescriptor(properties, "__proto__")?.value;
  Reflect.deleteProperty(properties, "__proto__");
  schema.patternProperties = {
    ...(schema.patternProperties as object | undefined),
    "^__proto__$": prototype,
  };
}

/**
 * Drops defaults that would make the validator refuse a valid call: those of inherited names, which it would check as
 * sent values, and those that their own schema refuses, such as the `null` that many servers write for optional lists.
 */
function dropUnsafeDefaults(schema: GraphSchema): void {
  for (const [name, property] of entriesOf(schema.properties)) {
    if (isPlainObject(property) && (name in Object.prototype || !takesDefault(property)))
      Reflect.deleteProperty(property, "default");
  }
}

function takesDefault(property: PlainObject): boolean {
  if (property.default !== null) return fits(property.default, property);
  return property.nullable === true || (property.$ref === undefined && fits(null, property));
}

function dropPattern(schema: GraphSchema, field: string, engine: RegexEngine): PatternWarning[] {
  const { pattern } = schema;
  if (typeof pattern !== "string" || engine.supports(pattern)) return [];
  delete schema.pattern;
  return [
    { field, text: `The pattern of ${field || "the value"} is not checked: it uses unsupported syntax.` },
  ];
}

function dropPatternProperties(schema: GraphSchema, field: string, engine: RegexEngine): PatternWarning[] {
  const unsupported = entriesOf(schema.patternProperties).filter(([pattern]) => !engine.supports(pattern));
  if (unsupported.length === 0) return [];
  for (const [pattern] of unsupported) Reflect.deleteProperty(schema.patternProperties as object, pattern);
  delete schema.additionalProperties;
  const text = `The names in ${field || "the params"} are not checked against a pattern: it uses unsupported syntax.`;
  return [{ field, text }];
}

function entriesOf(value: unknown): [string, unknown][] {
  return isPlainObject(value) ? Object.entries(value) : [];
}
