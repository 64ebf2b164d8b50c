import { HIDDEN_IN_LINE } from "../safety/invisible.ts";
import { spellUnits } from "../safety/visible-text.ts";
import { isPlainObject, type PlainObject } from "../util/plain-object.ts";
import type { JsonSchema } from "./json-schema.ts";
import { keywordsWhere, SCHEMA_KEYWORDS } from "./schema-keywords.ts";
import { resolvePointer } from "./walk-schema.ts";

/** State of one walk. The budget bounds the work on schemas that multiply by reference. */
export interface SchemaWalk {
  readonly root: unknown;
  readonly active: Set<object>;
  budget: number;
}

/** A schema without `$ref` and `allOf`. `lossy`: some of the original is missing. */
export interface FlatSchema {
  readonly schema: JsonSchema;
  readonly lossy: boolean;
}

/** A property of an object schema. */
export interface Property {
  readonly name: string;
  readonly schema: unknown;
  readonly required: boolean;
}

/** The properties of an object schema, required ones first. */
export interface ObjectView {
  readonly properties: readonly Property[];
  /** The schema of unnamed properties, if it restricts them. */
  readonly rest?: JsonSchema;
  readonly lossy: boolean;
}

const MAX_DEPTH = 32;
const MAX_BRANCHES = 32;

const UNKNOWN: FlatSchema = { schema: {}, lossy: true };
const ANYTHING: FlatSchema = { schema: {}, lossy: false };
const NOTHING: FlatSchema = { schema: { enum: [] }, lossy: false };

/** Starts a walk of a schema. See {@link flatten}. */
export function createWalk(root: unknown, budget = 20_000): SchemaWalk {
  return { root, active: new Set(), budget };
}

/** Resolves local references and merges `allOf`. Takes any value; must not throw. */
export function flatten(walk: SchemaWalk, schema: unknown): FlatSchema {
  if (schema === true) return ANYTHING;
  if (schema === false) return NOTHING;
  if (!isPlainObject(schema)) return UNKNOWN;
  walk.budget -= 1;
  if (walk.budget < 0) return UNKNOWN;
  if (!Object.hasOwn(schema, "$ref") && !Object.hasOwn(schema, "allOf")) return { schema, lossy: false };
  if (walk.active.has(schema) || walk.active.size >= MAX_DEPTH) return UNKNOWN;

  walk.active.add(schema);
  const { $ref, allOf, ...own } = schema;
  let merged: FlatSchema = { schema: own, lossy: false };
  if ($ref !== undefined) merged = mergeSchemas(walk, merged, flatten(walk, resolveLocal(walk.root, $ref)));
  for (const part of Array.isArray(allOf) ? allOf : []) {
    merged = mergeSchemas(walk, merged, flatten(walk, part));
    if (walk.budget < 0) break;
  }
  walk.active.delete(schema);
  return merged;
}

/** Returns the alternatives of `anyOf` or `oneOf`. */
export function branchesOf(schema: JsonSchema): readonly unknown[] {
  for (const branches of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(branches) && branches.length > 0) return branches;
  }
  return [];
}

/** Returns the schema restricted to one alternative. */
export function takeBranch(walk: SchemaWalk, schema: JsonSchema, branch: unknown): FlatSchema {
  const { anyOf, oneOf, ...base } = schema;
  const other = Array.isArray(anyOf) && anyOf.length > 0 && Array.isArray(oneOf) ? { oneOf } : {};
  return mergeSchemas(walk, { schema: { ...base, ...other }, lossy: false }, flatten(walk, branch));
}

/** The types in `type`, or the type that other keywords imply. Empty if the schema does not say. */
export function typesOf(schema: JsonSchema): readonly string[] {
  if (typeof schema.type === "string") return [schema.type];
  if (Array.isArray(schema.type)) return schema.type.filter((type) => typeof type === "string");
  for (const [type, keywords] of IMPLIED_TYPES) {
    if (keywords.some((keyword) => Object.hasOwn(schema, keyword))) return [type];
  }
  return [];
}

/** Reads an object schema. Alternatives are merged: a property is required only if all of them require it. */
export function toObjectView(walk: SchemaWalk, flat: FlatSchema): ObjectView {
  const { schema } = flat;
  const schemas = new Map<string, unknown>(
    Object.entries(isPlainObject(schema.properties) ? schema.properties : {}),
  );
  const required = requiredNames(schema);
  const branches = branchesOf(schema).slice(0, MAX_BRANCHES);
  const views = branches.map((branch) => toObjectView(walk, withoutBranches(flatten(walk, branch))));

  const fromBranches = new Map<string, Set<unknown>>();
  for (const property of views.flatMap((view) => view.properties)) {
    if (schemas.has(property.name)) continue;
    const alternatives = fromBranches.get(property.name) ?? new Set();
    fromBranches.set(property.name, alternatives.add(property.schema));
  }
  for (const [name, alternatives] of fromBranches) {
    schemas.set(name, alternatives.size > 1 ? { anyOf: [...alternatives] } : [...alternatives][0]);
  }
  const [first, ...others] = views.map(
    (view) => new Set(view.properties.filter(isRequired).map(({ name }) => name)),
  );
  for (const name of first ?? []) if (others.every((names) => names.has(name))) required.add(name);
  for (const name of required) if (!schemas.has(name)) schemas.set(name, true);

  const properties = [...schemas].map(([name, value]) => ({
    name,
    schema: value,
    required: required.has(name),
  }));
  const rest = schema.additionalProperties;
  return {
    properties: [...properties.filter(isRequired), ...properties.filter((property) => !property.required)],
    ...(isPlainObject(rest) && Object.keys(rest).length > 0 ? { rest } : {}),
    lossy: flat.lossy || branches.length > 0,
  };
}

/** Reads the range of a numeric schema; an open end is infinite. Also reads the boolean bounds of draft 4. */
export function toNumericRange(schema: JsonSchema) {
  const [min, minExclusive] = tightest(schema.minimum, schema.exclusiveMinimum, -1);
  const [max, maxExclusive] = tightest(schema.maximum, schema.exclusiveMaximum, 1);
  return { min, minExclusive, max, maxExclusive };
}

/** Writes a value as JSON on one line, with invisible characters escaped. Undefined if it is not JSON. */
export function toLiteral(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)?.replace(HIDDEN_IN_LINE, spellUnits);
  } catch {
    // Nested too deeply, cyclic, or a bigint.
    return undefined;
  }
}

const IMPLIED_TYPES = (["object", "array", "string", "number"] as const).map(
  (type) => [type, keywordsWhere(({ implies }) => implies === type)] as const,
);

function resolveLocal(root: unknown, reference: unknown): unknown {
  if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) return undefined;
  return resolvePointer(root, reference.slice(1));
}

/** Merges two schemas that both apply. The first wins on annotations and on keywords that cannot be joined. */
function mergeSchemas(walk: SchemaWalk, first: FlatSchema, second: FlatSchema): FlatSchema {
  let lossy = first.lossy || second.lossy;
  const merged = new Map(Object.entries(first.schema));
  for (const [keyword, value] of Object.entries(second.schema)) {
    if (!merged.has(keyword)) {
      merged.set(keyword, value);
      continue;
    }
    const joined = joinKeyword(walk, keyword, merged.get(keyword), value);
    if (joined === undefined) lossy = true;
    else merged.set(keyword, joined);
  }
  return { schema: Object.fromEntries(merged), lossy };
}

/** Undefined if one keyword cannot express both values. */
function joinKeyword(walk: SchemaWalk, keyword: string, first: unknown, second: unknown): unknown {
  const { annotates, bound } = SCHEMA_KEYWORDS.get(keyword) ?? {};
  if (first === second || annotates) return first;
  if (bound !== undefined && typeof first === "number" && typeof second === "number") {
    return bound === "lower" ? Math.max(first, second) : Math.min(first, second);
  }
  if (keyword === "type") return joinTypes(first, second);
  if (Array.isArray(first) && Array.isArray(second)) {
    walk.budget -= first.length + second.length;
    if (keyword === "required") return [...new Set([...first, ...second])];
    if (keyword === "enum") return intersect(first, second);
    return undefined;
  }
  if (keyword === "properties" && isPlainObject(first) && isPlainObject(second))
    return joinMaps(walk, first, second);
  if (keyword === "items") return { allOf: [first, second] };
  if (keyword !== "additionalProperties") return toLiteral(first) === toLiteral(second) ? first : undefined;
  if (first === false || second === false) return false;
  return first === true ? second : second === true ? first : { allOf: [first, second] };
}

function joinTypes(first: unknown, second: unknown): unknown {
  const admits = (types: readonly unknown[], type: unknown) =>
    types.includes(type) || (type === "integer" && types.includes("number"));
  const [left, right] = [[first].flat(), [second].flat()];
  const common = new Set([
    ...left.filter((type) => admits(right, type)),
    ...right.filter((type) => admits(left, type)),
  ]);
  return common.size > 1 ? [...common] : [...common][0];
}

function intersect(first: readonly unknown[], second: readonly unknown[]): unknown[] {
  const literals = new Set(second.map(toLiteral));
  return first.filter((value) => literals.has(toLiteral(value)));
}

function joinMaps(walk: SchemaWalk, first: PlainObject, second: PlainObject): PlainObject {
  const joined = new Map(Object.entries(first));
  for (const [name, schema] of Object.entries(second)) {
    const earlier = joined.get(name);
    const isSame = !joined.has(name) || earlier === schema;
    joined.set(name, isSame ? schema : { allOf: [earlier, schema] });
  }
  walk.budget -= joined.size;
  return Object.fromEntries(joined);
}

function withoutBranches(flat: FlatSchema): FlatSchema {
  const { anyOf: _anyOf, oneOf: _oneOf, ...schema } = flat.schema;
  return { schema, lossy: flat.lossy };
}

function requiredNames(schema: JsonSchema): Set<string> {
  const names = Array.isArray(schema.required) ? schema.required : [];
  return new Set(names.filter((name) => typeof name === "string"));
}

function isRequired(property: Property): boolean {
  return property.required;
}

/** `direction` is -1 for the lower bound and 1 for the upper bound. */
function tightest(inclusive: unknown, exclusive: unknown, direction: -1 | 1): [number, boolean] {
  const open = direction * Number.POSITIVE_INFINITY;
  const closed = typeof inclusive === "number" ? inclusive : open;
  if (exclusive === true) return [closed, closed !== open];
  if (typeof exclusive !== "number") return [closed, false];
  return (exclusive - closed) * direction <= 0 ? [exclusive, true] : [closed, false];
}
