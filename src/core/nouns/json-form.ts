import { z } from "zod";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { issueReason } from "../../base/json-schema/zod-mistakes.ts";
import { problem } from "../../base/problems/problem.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { fieldsOf, isPlainObject, type PlainObject } from "../../base/util/plain-object.ts";

/**
 * A field has one name in TypeScript. Some have another in JSON, for models and other programs: `dryRun` is `dry_run`.
 * The schema of such a field knows its JSON name, and faces convert by the schema.
 */
const jsonNames = z.registry<{ readonly name: string }>();

/** Gives a field another name in JSON. */
export function inJson<S extends z.ZodType>(name: string, field: S): S {
  jsonNames.add(field, { name });
  return field;
}

/** Fields of a schema with another name in JSON. */
interface FieldNames {
  readonly toJson: ReadonlyMap<string, string>;
  readonly fromJson: ReadonlyMap<string, string>;
  /** The fields inside a field, by its name in TypeScript. */
  readonly inside: ReadonlyMap<string, FieldNames>;
}

/** Undefined if every field has the same name in JSON. The variants of a union are merged. */
const fieldNamesOf = memoizeByObject((schema: z.ZodType): FieldNames | undefined => {
  const toJson = new Map<string, string>();
  const inside = new Map<string, FieldNames>();
  for (const { shape } of objectsIn(schema)) {
    for (const [field, inner] of Object.entries(shape as Record<string, z.ZodType>)) {
      const name = jsonNames.get(inner)?.name;
      if (name !== undefined) toJson.set(field, name);
      const within = fieldNamesOf(inner);
      if (within) inside.set(field, within);
    }
  }
  if (toJson.size + inside.size === 0) return undefined;
  return { toJson, inside, fromJson: new Map([...toJson].map(([field, name]) => [name, field])) };
});

/** The objects that a value of the schema may be, including items of lists. */
function objectsIn(schema: z.core.$ZodType): z.ZodObject[] {
  if (schema instanceof z.ZodObject) return [schema];
  if (schema instanceof z.ZodArray) return objectsIn(schema.element);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(objectsIn);
  if (schema instanceof z.ZodPipe) return objectsIn(schema.out);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return objectsIn(schema.unwrap());
  return [];
}

/** Converts a value to JSON names. Data of tools, which no schema describes, stays unchanged. */
export function toJsonNames<V>(schema: z.ZodType, value: V): V {
  return respell(fieldNamesOf(schema), value, "toJson") as V;
}

/** Converts a value from JSON names. A TypeScript name in the value wins. */
export function fromJsonNames(schema: z.ZodType, value: unknown): unknown {
  return respell(fieldNamesOf(schema), value, "fromJson");
}

function respell(names: FieldNames | undefined, value: unknown, way: "toJson" | "fromJson"): unknown {
  if (!names || !isRespelt(names, value, way)) return value;
  if (Array.isArray(value)) return value.map((item) => respell(names, item, way));
  const fields = Object.entries(value as PlainObject).flatMap(([name, inner]) => {
    const spelt = names[way].get(name) ?? name;
    if (spelt !== name && ((value as PlainObject)[spelt] ?? null) !== null) return [];
    return [[spelt, respell(names.inside.get(way === "toJson" ? name : spelt), inner, way)]];
  });
  return Object.fromEntries(fields);
}

/** Most values have no such name, and each call would pay for a copy (`npm run bench -- overhead`). */
function isRespelt(names: FieldNames, value: unknown, way: "toJson" | "fromJson"): boolean {
  if (Array.isArray(value)) return value.some((item) => isRespelt(names, item, way));
  if (!isPlainObject(value)) return false;
  return Object.keys(value).some((name) => {
    if (names[way].has(name)) return true;
    const inside = names.inside.get(name);
    return inside !== undefined && isRespelt(inside, value[name], way);
  });
}

/** Converts the path of a field to JSON names. */
export function toJsonPath(schema: z.ZodType, path: readonly PropertyKey[]): PropertyKey[] {
  let fields = fieldNamesOf(schema);
  return path.map((part) => {
    if (typeof part !== "string") return part;
    const name = fields?.toJson.get(part) ?? part;
    fields = fields?.inside.get(part);
    return name;
  });
}

/** The JSON Schema of an input or an answer. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const { properties, required } = jsonSchema;
      if (!(zodSchema instanceof z.ZodObject) || !properties) return;
      const nameOf = (field: string) => fieldNamesOf(zodSchema)?.toJson.get(field) ?? field;
      jsonSchema.properties = Object.fromEntries(
        Object.entries(properties).map(([field, inner]) => [nameOf(field), inner]),
      );
      if (required) jsonSchema.required = required.map(nameOf);
    },
  }) as JsonSchema;
}

/** An input that was read once, for the decision about a call and for its run. */
export class ReadInput<T = unknown> {
  readonly input: T;
  /** Unknown fields that were sent. */
  readonly ignored: readonly string[];
  /** The input as sent. */
  readonly given: unknown;

  constructor(input: T, ignored: readonly string[], given: unknown) {
    this.input = input;
    this.ignored = ignored;
    this.given = given;
  }
}

/** Gemini CLI adds this field to every tool and forwards it. */
const ADDED_BY_CLIENTS = "wait_for_previous";

/**
 * Reads input from clients and models. Unknown fields are ignored and reported, unless a client added them by itself.
 *
 * @throws INVALID_INPUT if the input does not fit the operation's schema.
 */
export function readInput<I extends z.ZodType>(
  operation: {
    readonly name: string;
    readonly input: I;
    /** Other names of fields that models send. */
    readonly aliases?: Readonly<Record<string, string>>;
    /** Undoes nesting that models send. */
    readonly repair?: (given: unknown) => unknown;
    /** A field that, if empty, takes all unknown fields. */
    readonly beside?: string;
  },
  given: unknown,
): ReadInput<z.output<I>> {
  const named = fromJsonNames(operation.input, operation.repair?.(given) ?? given);
  const shape = operation.input instanceof z.ZodObject ? operation.input.shape : {};
  const { fields, unknown } = isPlainObject(named)
    ? withBeside(readFields(named, shape, operation.aliases), named, operation.beside)
    : { fields: named ?? {}, unknown: [] };
  const parsed = operation.input.safeParse(fields);
  if (parsed.success)
    return new ReadInput(
      parsed.data,
      unknown.filter((name) => name !== ADDED_BY_CLIENTS),
      given,
    );
  const issues = parsed.error.issues.map((issue) => ({
    ...issue,
    path: toJsonPath(operation.input, issue.path),
  }));
  throw problem("INVALID_INPUT", { operation: operation.name, reason: reasonsOf({ issues }) });
}

/** Models send the arguments of a tool next to its address. */
function withBeside(
  read: ReturnType<typeof readFields>,
  given: PlainObject,
  into: string | undefined,
): ReturnType<typeof readFields> {
  const { fields, unknown } = read;
  const beside = unknown.filter((name) => name !== ADDED_BY_CLIENTS && given[name] !== null);
  if (into === undefined || beside.length === 0) return read;
  if (fields[into] !== undefined && Object.keys(fieldsOf(fields[into])).length > 0) return read;
  const args = Object.fromEntries(beside.map((name) => [name, given[name]]));
  return { fields: { ...fields, [into]: args }, unknown: unknown.filter((name) => !beside.includes(name)) };
}

const MOST_REASONS = 5;

/**
 * Reads fields from clients and models. `null` counts as absent, and so does an empty text if the schema refuses it. A
 * missing field is taken from its other names, in the order of `aliases`. `unknown` names the fields that are not in
 * the schema.
 */
export function readFields(
  given: PlainObject,
  shape: Readonly<Record<string, z.ZodType>>,
  aliases: Readonly<Record<string, string>> = {},
) {
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(shape, name) && !isAbsent(given[name], shape[name]!)) fields[name] = given[name];
  }
  const taken = new Set<string>();
  for (const [alias, name] of Object.entries(aliases)) {
    if (!Object.hasOwn(given, alias) || Object.hasOwn(shape, alias)) continue;
    if ((given[name] ?? fields[name] ?? null) !== null) continue;
    if (given[alias] !== null) fields[name] = given[alias];
    taken.add(alias);
  }
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(shape, name) && !taken.has(name));
  return { fields, unknown };
}

function isAbsent(value: unknown, schema: z.ZodType): boolean {
  return value === null || (value === "" && !schema.safeParse("").success);
}

/** Lists why an input does not fit its schema, in one line. */
export function reasonsOf({ issues }: Pick<z.ZodError, "issues">): string {
  return issues.slice(0, MOST_REASONS).map(toReason).join("; ");
}

function toReason(issue: z.core.$ZodIssue): string {
  const { path, message, code } = issue;
  if (path.length === 0) return code === "custom" ? message : `it ${issueReason(issue)}`;
  const field = path.join(".");
  if (message.endsWith("received undefined")) return `${field} is required`;
  return code === "custom" ? `${field}: ${message}` : `${field} ${issueReason(issue)}`;
}

/** Parses JSON text. Other text stays as it is. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
