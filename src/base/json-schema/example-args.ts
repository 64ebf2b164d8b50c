import { isPlainObject } from "../util/plain-object.ts";
import {
  branchesOf,
  createWalk,
  type FlatSchema,
  flatten,
  type SchemaWalk,
  takeBranch,
  toLiteral,
  toNumericRange,
  toObjectView,
  typesOf,
} from "./flatten-schema.ts";
import type { JsonSchema } from "./json-schema.ts";

/**
 * Creates arguments that fit a schema: the required ones, or else the first optional one. The same schema always gives
 * the same arguments. Ignores `pattern`. Takes any value; must not throw.
 */
export function toExampleArgs(schema: JsonSchema): Record<string, unknown> {
  const walk = createWalk(schema, 5_000);
  const root = takeBranches(walk, flatten(walk, schema), 0);
  const written = [root.examples].flat().find((value) => isPlainObject(value) && fits(value, root));
  if (isPlainObject(written)) return { ...written };
  const args = makeObject(walk, root, 0);
  if (Object.keys(args).length > 0) return args;
  const optional = toObjectView(walk, { schema: root, lossy: false }).properties.find(
    (property) => !isNever(walk, property.schema),
  );
  return optional ? Object.fromEntries([[optional.name, makeValue(walk, optional.schema, 1)]]) : {};
}

const MAX_LEVEL = 8;
/** From this level on, values are as short as possible: null, a scalar, an empty list. */
const SHALLOW_LEVEL = 3;
const MAX_ITEMS = 50;
const MAX_TEXT = 1_000;

function makeValue(walk: SchemaWalk, schema: unknown, level: number): unknown {
  if (level > MAX_LEVEL || walk.budget <= 0) return null;
  const flat = flatten(walk, schema);
  const written = writtenValue(flat.schema);
  if (written) return written.value;
  const taken = takeBranches(walk, flat, level);
  const chosen = writtenValue(taken);
  if (chosen) return chosen.value;
  const types = typesOf(taken);
  return makeOfType(walk, types.find((type) => type !== "null") ?? types[0], taken, level);
}

/** Finds a value in the schema itself. Skips null defaults, which show nothing. */
function writtenValue(schema: JsonSchema): { value: unknown } | undefined {
  if (Object.hasOwn(schema, "const")) return { value: schema.const };
  const examples = Array.isArray(schema.examples) ? schema.examples : [];
  const written = [schema.default, ...examples].filter((value) => value !== undefined && value !== null);
  const fitting = written.find((value) => fits(value, schema));
  if (fitting !== undefined) return { value: fitting };
  if (!Array.isArray(schema.enum) || schema.enum.length === 0) return undefined;
  return { value: schema.enum.find((value) => fits(value, schema)) ?? schema.enum[0] };
}

function takeBranches(walk: SchemaWalk, flat: FlatSchema, level: number): JsonSchema {
  let { schema } = flat;
  for (let taken = 0; taken < MAX_LEVEL; taken += 1) {
    const branches = branchesOf(schema);
    if (branches.length === 0) break;
    schema = takeBranch(walk, schema, preferredBranch(walk, branches, level)).schema;
  }
  return schema;
}

function preferredBranch(walk: SchemaWalk, branches: readonly unknown[], level: number): unknown {
  const [first] = branches;
  if (branches.length === 1 || walk.budget <= 0) return first;
  const types = branches.slice(0, MAX_LEVEL).map((branch) => typesOf(flatten(walk, branch).schema)[0]);
  const isSimple = (type: string | undefined) => type !== undefined && type !== "object" && type !== "array";
  const wanted =
    level >= SHALLOW_LEVEL
      ? types.findIndex(isSimple)
      : types.findIndex((type, index) => type !== "null" && !isNever(walk, branches[index]));
  return branches[Math.max(0, wanted)];
}

function isNever(walk: SchemaWalk, schema: unknown): boolean {
  const { enum: values } = flatten(walk, schema).schema;
  return Array.isArray(values) && values.length === 0;
}

function makeOfType(walk: SchemaWalk, type: string | undefined, schema: JsonSchema, level: number): unknown {
  switch (type) {
    case "object":
      return makeObject(walk, schema, level);
    case "array":
      return makeArray(walk, schema, level);
    case "integer":
    case "number":
      return makeNumber(schema, type === "integer");
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return makeString(schema);
  }
}

function makeObject(walk: SchemaWalk, schema: JsonSchema, level: number): Record<string, unknown> {
  const required = toObjectView(walk, { schema, lossy: false }).properties.filter(
    (property) => property.required,
  );
  const affordable = required.slice(0, Math.max(0, walk.budget));
  // An assignment to `__proto__` would change the prototype; `fromEntries` creates a property.
  return Object.fromEntries(
    affordable.map((property) => [property.name, makeValue(walk, property.schema, level + 1)]),
  );
}

function makeArray(walk: SchemaWalk, schema: JsonSchema, level: number): unknown[] {
  const least = toSize(schema.minItems, 0, MAX_ITEMS);
  const most = toSize(schema.maxItems, MAX_ITEMS, MAX_ITEMS);
  const tuple = [schema.prefixItems, schema.items].find(Array.isArray) ?? [];
  const items = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
  const wanted = tuple.length > 0 ? tuple.length : level >= SHALLOW_LEVEL || isNever(walk, items) ? 0 : 1;
  const length = Math.max(least, Math.min(wanted, most));
  return Array.from({ length }, (_, index) => {
    const item = makeValue(walk, index < tuple.length ? tuple[index] : (items ?? true), level + 1);
    return schema.uniqueItems === true && index > 0 ? vary(item, flatten(walk, items).schema, index) : item;
  });
}

function vary(value: unknown, schema: JsonSchema, index: number): unknown {
  const varied = Array.isArray(schema.enum)
    ? schema.enum[index]
    : typeof value === "number"
      ? value + index * (typeof schema.multipleOf === "number" ? schema.multipleOf : 1)
      : `${value}${index}`;
  return typeof varied === typeof value && fits(varied, schema) ? varied : value;
}

const FORMAT_SAMPLES: ReadonlyMap<unknown, string> = new Map([
  ["date", "2026-01-15"],
  ["date-time", "2026-01-15T09:30:00Z"],
  ["time", "09:30:00Z"],
  ["email", "someone@example.com"],
  ["uri", "https://example.com"],
  ["url", "https://example.com"],
  ["uuid", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"],
]);

function makeString(schema: JsonSchema): string {
  const sample = FORMAT_SAMPLES.get(schema.format);
  if (sample !== undefined) return sample;
  const least = toSize(schema.minLength, 0, MAX_TEXT);
  const most = toSize(schema.maxLength, MAX_TEXT, MAX_TEXT);
  return "text".repeat(Math.max(1, Math.ceil(least / 4))).slice(0, Math.max(least, Math.min(4, most)));
}

function toSize(value: unknown, otherwise: number, limit: number): number {
  return typeof value === "number" && value >= 0 ? Math.min(Math.ceil(value), limit) : otherwise;
}

/** Tries likely numbers until one fits, because bounds and steps interact. */
function makeNumber(schema: JsonSchema, isInteger: boolean): number {
  const { min, max } = toNumericRange(schema);
  const step = typeof schema.multipleOf === "number" && schema.multipleOf > 0 ? schema.multipleOf : 1;
  const lowStep = Math.ceil(min / step) * step;
  const highStep = Math.floor(max / step) * step;
  const candidates = [
    ...[
      1,
      0,
      Math.ceil(min),
      Math.floor(min) + 1,
      min,
      (min + max) / 2,
      Math.floor(max),
      Math.ceil(max) - 1,
      max,
    ],
    ...[step, -step, lowStep, lowStep + step, highStep, highStep - step],
    ...[min + Math.abs(min) * 1e-9, max - Math.abs(max) * 1e-9],
  ];
  const bounded = { ...schema, type: isInteger ? "integer" : "number" };
  return candidates.find((candidate) => Number.isFinite(candidate) && fits(candidate, bounded)) ?? 1;
}

/** Whether a value meets the plain keywords of its own level. */
export function fits(value: unknown, schema: JsonSchema): boolean {
  if (!hasType(value, schema)) return false;
  if (typeof value === "number") return fitsNumber(value, schema);
  if (typeof value === "string") {
    // JSON Schema counts code points.
    const length = value.length > MAX_TEXT ? value.length : [...value].length;
    if (length < toSize(schema.minLength, 0, MAX_TEXT)) return false;
    if (length > toSize(schema.maxLength, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)) return false;
  }
  if (isPlainObject(value) && Array.isArray(schema.required)) {
    if (!schema.required.every((name) => typeof name !== "string" || Object.hasOwn(value, name)))
      return false;
  }
  return !Array.isArray(schema.enum) || isAmong(value, schema.enum);
}

function isAmong(value: unknown, values: readonly unknown[]): boolean {
  if (values.includes(value)) return true;
  const literal = typeof value === "object" ? toLiteral(value) : undefined;
  return literal !== undefined && values.some((other) => toLiteral(other) === literal);
}

function hasType(value: unknown, schema: JsonSchema): boolean {
  if (!Object.hasOwn(schema, "type")) return true;
  return typesOf(schema).some((type) => {
    if (type === "null") return value === null;
    if (type === "array") return Array.isArray(value);
    if (type === "object") return isPlainObject(value);
    return type === "integer" ? Number.isInteger(value) : type === typeof value;
  });
}

function fitsNumber(value: number, schema: JsonSchema): boolean {
  const { min, minExclusive, max, maxExclusive } = toNumericRange(schema);
  if (value < min || value > max) return false;
  if ((minExclusive && value === min) || (maxExclusive && value === max)) return false;
  const step = schema.multipleOf;
  if (typeof step === "number" && step > 0 && !Number.isInteger(value / step)) return false;
  return !Array.isArray(schema.enum) || schema.enum.includes(value);
}
