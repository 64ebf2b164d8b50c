import { fitAssembled, type Piece, type TokenBudget } from "../tokens/fit-pieces.ts";
import { isPlainObject } from "../util/plain-object.ts";
import { toSummary } from "../util/to-summary.ts";
import {
  branchesOf,
  createWalk,
  flatten,
  type Property,
  type SchemaWalk,
  toObjectView,
  typesOf,
} from "./flatten-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import { mapSchema, pointerParts, type SchemaMapper, subschemas } from "./walk-schema.ts";

/**
 * Shortens an input schema to a token budget. A schema that fits only becomes compact. Otherwise its properties are
 * shown by rank (`first`, required, then in order): whole, or by type and summary, or not at all. The JSON of the
 * result stays within the budget, or is `{}`. `omitted` counts missing properties. The schema must be JSON. See {@link
 * fieldsInError} for `first`.
 */
export function fitSchema(
  schema: JsonSchema,
  { first = [], ...budget }: TokenBudget & { readonly first?: readonly string[] },
): { readonly schema: JsonSchema; readonly omitted: number } {
  const compact = compactSchema(schema);
  const text = JSON.stringify(compact);
  const maxChars = budget.maxTokens * CHARS_PER_TOKEN;
  if (text.length <= maxChars && budget.countTokens(text) <= budget.maxTokens)
    return { schema: compact, omitted: 0 };

  const walk = createWalk(compact);
  const view = toObjectView(walk, flatten(walk, compact));
  const definitions = readDefinitions(compact);
  const shown = ranked(view.properties, first).map(({ property, rank }) =>
    toForms(property, rank, toBrief(walk, property.schema), definitions, maxChars),
  );
  const isClosed = compact.additionalProperties === false;
  const fitted = fitAssembled(
    shown.map(({ piece }) => piece),
    budget,
    (forms) => assemble(shown, forms, definitions, isClosed),
  );
  const shownCount = isPlainObject(fitted?.properties) ? Object.keys(fitted.properties).length : 0;
  return { schema: fitted ?? {}, omitted: view.properties.length - shownCount };
}

/** Text of a schema has fewer characters per token: longer text cannot fit and is not counted. */
const CHARS_PER_TOKEN = 10;
const SUMMARY_CHARS = 80;
const ENUM_CHARS = 120;

interface ShownSchema {
  readonly property: Property;
  readonly piece: Piece;
  readonly forms: readonly unknown[];
  /** Definitions that the whole form needs. */
  readonly needs: ReadonlySet<string>;
}

/** By pointer, such as `$defs/node`. */
type Definitions = ReadonlyMap<string, unknown>;

function ranked(properties: readonly Property[], first: readonly string[]) {
  const byName = new Map(properties.map((property) => [property.name, property]));
  const wanted = new Set(first.flatMap((name) => byName.get(name) ?? []));
  const others = properties.filter((property) => !wanted.has(property));
  return [
    ...[...wanted].map((property) => ({ property, rank: 2 })),
    ...others.map((property) => ({ property, rank: property.required ? 1 : 0 })),
  ];
}

function toForms(
  property: Property,
  rank: number,
  brief: JsonSchema,
  definitions: Definitions,
  maxChars: number,
): ShownSchema {
  const needs = definitionsFor(property.schema, definitions);
  const key = JSON.stringify(property.name);
  const toLine = (schema: unknown) =>
    `${key}:${JSON.stringify(schema)},${property.required ? `${key},` : ""}`;
  const carried = [...(needs ?? [])].map((name) => JSON.stringify({ [name]: definitions.get(name) }));
  const whole = toLine(property.schema) + carried.join("");
  const [toBriefPrice, toNonePrice] = [3 * rank + 1, 3 * rank + 2];
  if (needs === undefined || whole.length > maxChars) {
    const piece = { forms: [toLine(brief), ""], prices: [toNonePrice] };
    return { property, piece, forms: [brief], needs: new Set() };
  }
  const piece = { forms: [whole, toLine(brief), ""], prices: [toBriefPrice, toNonePrice] };
  return { property, piece, forms: [property.schema, brief], needs };
}

function toBrief(walk: SchemaWalk, property: unknown): JsonSchema {
  const { schema } = flatten(walk, property);
  const parts = [schema, ...branchesOf(schema).map((branch) => flatten(walk, branch).schema)];
  const types = [...new Set(parts.flatMap(typesOf))];
  const summary = typeof schema.description === "string" ? toSummary(schema.description, SUMMARY_CHARS) : "";
  const choices = Array.isArray(schema.enum) ? JSON.stringify(schema.enum).length : Number.POSITIVE_INFINITY;
  return {
    ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
    ...(choices <= ENUM_CHARS && { enum: schema.enum }),
    ...(summary !== "" && { description: summary }),
  };
}

function assemble(
  shown: readonly ShownSchema[],
  forms: readonly number[],
  definitions: Definitions,
  isClosed: boolean,
): JsonSchema {
  const candidates = shown.flatMap(({ property, forms: schemas, needs }, index) => {
    const form = forms[index]!;
    if (form >= schemas.length) return [];
    return [{ property, schema: schemas[form], needs: form === 0 ? needs : new Set<string>() }];
  });
  const required = candidates
    .filter(({ property }) => property.required)
    .map(({ property }) => property.name);
  const needed = new Set(candidates.flatMap(({ needs }) => [...needs]));
  return {
    type: "object",
    ...(candidates.length > 0 && {
      properties: Object.fromEntries(candidates.map(({ property, schema }) => [property.name, schema])),
    }),
    ...(required.length > 0 && { required }),
    ...(isClosed && candidates.length === shown.length && { additionalProperties: false }),
    ...toContainers(definitions, needed),
  };
}

function toContainers(definitions: Definitions, needed: ReadonlySet<string>): JsonSchema {
  const containers = Map.groupBy(needed, (pointer) => pointer.slice(0, pointer.indexOf("/")));
  return Object.fromEntries(
    [...containers].map(([keyword, pointers]) => [
      keyword,
      Object.fromEntries(
        pointers.map((pointer) => [pointer.slice(keyword.length + 1), definitions.get(pointer)]),
      ),
    ]),
  );
}

function readDefinitions(schema: JsonSchema): Definitions {
  return new Map(
    [...subschemas(schema)]
      .filter(({ keyword }) => keyword === "$defs" || keyword === "definitions")
      .map(({ keyword, key, value }) => [`${keyword}/${key}`, value]),
  );
}

/** Definitions that a schema refers to, directly or not. Undefined if it refers to anything else. */
function definitionsFor(schema: unknown, definitions: Definitions): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  const pending = [schema];
  while (pending.length > 0) {
    const at = pending.pop();
    if (!isPlainObject(at)) continue;
    if (Object.hasOwn(at, "$dynamicRef") || Object.hasOwn(at, "$recursiveRef")) return undefined;
    if (Object.hasOwn(at, "$ref")) {
      const name = definitionOf(at.$ref);
      if (name === undefined || !definitions.has(name)) return undefined;
      if (!names.has(name)) pending.push(definitions.get(name));
      names.add(name);
    }
    for (const { value } of subschemas(at)) pending.push(value);
  }
  return names;
}

function definitionOf(reference: unknown): string | undefined {
  if (typeof reference !== "string" || !reference.startsWith("#/")) return undefined;
  const [keyword, name] = pointerParts(reference.slice(1)) ?? [];
  return name === undefined ? undefined : `${keyword}/${name}`;
}

/**
 * Copies a schema for a model to read, without the keywords that only a validator needs and without definitions that
 * nothing refers to.
 */
export function compactSchema(schema: JsonSchema): JsonSchema {
  const whole = compact(schema) as JsonSchema;
  const definitions = readDefinitions(whole);
  if (definitions.size === 0) return whole;
  const { $defs: _, definitions: __, ...rest } = whole;
  const needed = definitionsFor(rest, definitions);
  return needed ? { ...rest, ...toContainers(definitions, needed) } : whole;
}

/** Keywords that guard an input but tell a model nothing that it needs to write one. */
const SILENT = new Set(["$schema", "$id", "propertyNames", "minLength", "maxLength", "minItems", "maxItems"]);
/** Bounds that any sensible number keeps. */
const NATURAL: ReadonlyMap<string, (bound: number) => boolean> = new Map([
  ["minimum", (bound) => bound === 0 || bound === 1 || bound <= -(2 ** 31)],
  ["exclusiveMinimum", (bound) => bound === 0 || bound <= -(2 ** 31)],
  ["maximum", (bound) => bound >= 2 ** 31 - 1],
  ["exclusiveMaximum", (bound) => bound >= 2 ** 31 - 1],
]);

function compact(schema: unknown): unknown {
  if (!isPlainObject(schema)) return schema;
  return mapSchema(schema, Object.hasOwn(schema, "description") ? DESCRIBED : UNDESCRIBED);
}

const UNDESCRIBED: SchemaMapper = {
  subschema: (part, keyword) => (SILENT.has(keyword) ? undefined : compact(part)),
  value: (value, keyword) => (isSilent(keyword, value) ? undefined : value),
};

/** A description says better than a pattern what a text has to look like. */
const DESCRIBED: SchemaMapper = {
  ...UNDESCRIBED,
  value: (value, keyword, holds) =>
    keyword === "pattern" ? undefined : UNDESCRIBED.value(value, keyword, holds),
};

function isSilent(keyword: string, value: unknown): boolean {
  if (SILENT.has(keyword)) return true;
  if (keyword === "default") return value === "" || value === false || typeof value === "number";
  return typeof value === "number" && (NATURAL.get(keyword)?.(value) ?? false);
}
