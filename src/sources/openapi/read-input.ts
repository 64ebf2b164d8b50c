import { field, fieldsOf, listOf, type PlainObject } from "../../base/util/plain-object.ts";
import type { Example } from "../../core/nouns/entry.ts";
import { createSchemaConverter, type SchemaConverter } from "./convert-schema.ts";
import { type DeclaredBody, type DeclaredParameter, readBody, readParameters } from "./declared-input.ts";
import { resolveReference } from "./load-document.ts";
import type { ApiInput, BodyPlan, FoundOperation } from "./operation-plan.ts";

/** Depths to try, in order, until the schema is small enough for the catalog. */
const DEPTHS = [28, 12, 8, 6, 5, 4, 3, 2, 1];
const MAX_CHARS = 200 * 1024;
const EXAMPLE_CHARS = 4_096;
const PRUNED = "Deeply nested parts of the arguments are not described here; the API checks them itself.";

/**
 * Combines parameters and body into one set of arguments, without parameters that the source fills in (`isSupplied`).
 */
export function readInput(
  root: unknown,
  { path, pathItem, operation }: Pick<FoundOperation, "path" | "pathItem" | "operation">,
  isSupplied: (parameter: Pick<DeclaredParameter, "place" | "name">) => boolean,
): ApiInput {
  const declared = readParameters(root, path, {
    ofPath: field(pathItem, "parameters"),
    ofOperation: field(operation, "parameters"),
  }).filter((parameter) => !isSupplied(parameter));
  const body = readBody(root, field(operation, "requestBody"));
  const takeName = createNames();
  const named = declared.map((parameter) => ({
    ...parameter,
    argument: takeName(parameter.name, parameter.place),
  }));
  const input: NamedInput = {
    parameters: named,
    body,
    bodyNames: body ? nameBody(body, takeName) : new Map(),
  };
  const { schema, isPruned } = fittingSchema(root, input);
  return {
    parameters: named,
    ...(body && { body: toBodyPlan(body, input.bodyNames, schema) }),
    inputSchema: schema,
    notes: isPruned ? [PRUNED] : [],
    examples: toExamples(input, schema),
  };
}

/** The declared input, with a name for each argument. */
interface NamedInput {
  readonly parameters: readonly (DeclaredParameter & { readonly argument: string })[];
  readonly body: DeclaredBody | undefined;
  readonly bodyNames: BodyNames;
}

/** Argument names by property of the body. The key `undefined` is the whole body. */
type BodyNames = ReadonlyMap<string | undefined, string>;

/** The first argument with a name keeps it. Later ones add their location. */
function createNames(): (name: string, place: string) => string {
  const taken = new Set<string>();
  return (name, place) => {
    let argument = taken.has(name) ? `${name}_${place}` : name;
    for (let number = 2; taken.has(argument); number += 1) argument = `${name}_${place}_${number}`;
    taken.add(argument);
    return argument;
  };
}

function nameBody(body: DeclaredBody, takeName: (name: string, place: string) => string): BodyNames {
  if (!body.properties) return new Map([[undefined, takeName("body", "content")]]);
  return new Map(Object.keys(body.properties).map((name) => [name, takeName(name, "body")]));
}

function fittingSchema(root: unknown, input: NamedInput) {
  let schema: PlainObject = {};
  for (const depth of DEPTHS) {
    const converter = createSchemaConverter(root, depth);
    schema = buildSchema(converter, input);
    if (!converter.overflowed && JSON.stringify(schema).length <= MAX_CHARS) {
      return { schema, isPruned: converter.pruned };
    }
  }
  return { schema, isPruned: true };
}

function buildSchema(converter: SchemaConverter, { parameters, body, bodyNames }: NamedInput): PlainObject {
  const properties = parameters.map((parameter): [string, unknown] => [
    parameter.argument,
    described(converter, parameter.schema, parameter),
  ]);
  const required = parameters.filter((parameter) => parameter.required).map(({ argument }) => argument);
  const whole = bodyNames.get(undefined);
  let dependent: PlainObject = {};
  if (body && whole !== undefined) {
    properties.push([whole, described(converter, body.schema, body)]);
    if (body.required) required.push(whole);
  } else if (body?.properties) {
    const flat = fieldsOf(converter.convert({ properties: body.properties }, 0));
    const argumentOf = (name: string) => bodyNames.get(name)!;
    const converted = Object.entries(fieldsOf(flat.properties));
    properties.push(...converted.map(([name, part]): [string, unknown] => [argumentOf(name), part]));
    const needed = converted.map(([name]) => name).filter((name) => body.requiredNames.includes(name));
    if (body.required) required.push(...needed.map(argumentOf));
    else
      dependent = requireTogether(
        converted.map(([name]) => argumentOf(name)),
        needed.map(argumentOf),
      );
  }
  const definitions = converter.definitions();
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...(Object.keys(dependent).length > 0 && { dependentRequired: dependent }),
    additionalProperties: false,
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  };
}

/** Requires either all fields of an optional body or none. */
function requireTogether(all: readonly string[], needed: readonly string[]): PlainObject {
  if (needed.length === 0) return {};
  const rows = all.map((name): [string, string[]] => [name, needed.filter((other) => other !== name)]);
  return Object.fromEntries(rows.filter(([, others]) => others.length > 0));
}

/** Uses the parameter's description instead of its type's, and keeps everything else of the type. */
function described(
  converter: SchemaConverter,
  schema: unknown,
  { description, deprecated = false }: { readonly description?: string; readonly deprecated?: boolean },
): unknown {
  const prose = { ...(description && { description }), ...(deprecated && { deprecated }) };
  const isReference = field(schema, "$ref") !== undefined;
  const converted = converter.convert(isReference ? schema : { ...fieldsOf(schema), ...prose }, 1);
  return isReference && typeof converted === "object" ? { ...converted, ...prose } : converted;
}

function toBodyPlan(body: DeclaredBody, names: BodyNames, schema: PlainObject): BodyPlan {
  const whole = names.get(undefined);
  const fields = [...names].flatMap(([name, argument]) => {
    if (name === undefined) return [];
    const isBinary = isBinarySchema(schema, field(schema.properties, argument));
    return [{ name, argument, ...body.styleOf(name), isBinary }];
  });
  const { mediaType, kind, required } = body;
  return { mediaType, kind, required, ...(whole !== undefined && { whole }), fields };
}

/** Also true for a list of files. */
function isBinarySchema(root: PlainObject, part: unknown): boolean {
  const schema = resolveReference(root, part);
  const items = resolveReference(root, field(schema, "items"));
  return schema.contentEncoding === "base64" || items.contentEncoding === "base64";
}

function toExamples({ parameters, body, bodyNames }: NamedInput, schema: PlainObject): Example[] {
  const args: [string, unknown][] = parameters
    .filter(({ example }) => example !== undefined)
    .map(({ argument, example }) => [argument, example]);
  const whole = bodyNames.get(undefined);
  if (body?.example !== undefined && whole !== undefined) args.push([whole, body.example]);
  for (const [name, argument] of bodyNames) {
    const value = name === undefined ? undefined : field(body?.example, name);
    if (value !== undefined && Object.hasOwn(fieldsOf(schema.properties), argument))
      args.push([argument, value]);
  }
  const example = Object.fromEntries(args);
  const isComplete = listOf(schema.required).every((name) => Object.hasOwn(example, String(name)));
  if (args.length === 0 || !isComplete) return [];
  return JSON.stringify(example).length <= EXAMPLE_CHARS ? [{ args: example }] : [];
}
