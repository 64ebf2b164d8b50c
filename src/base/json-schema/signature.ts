import { lazy } from "../util/lazy.ts";
import { isPlainObject } from "../util/plain-object.ts";
import {
  branchesOf,
  createWalk,
  type FlatSchema,
  flatten,
  type ObjectView,
  type Property,
  type SchemaWalk,
  takeBranch,
  toLiteral,
  toNumericRange,
  toObjectView,
  typesOf,
} from "./flatten-schema.ts";
import type { JsonSchema } from "./json-schema.ts";

/** Options of {@link toSignature}. */
export interface SignatureOptions {
  /** Default 200. */
  readonly maxChars?: number;
  /** Replaces optional parameters by their count. */
  readonly requiredOnly?: boolean;
}

/**
 * Writes a compact call signature, such as `(title: string, priority?: 1..5 = 3)`. A `~` marks a part that says less
 * than the schema. Takes any value; must not throw.
 */
export function toSignature(schema: JsonSchema, options: SignatureOptions = {}): string {
  const walk = createWalk(schema);
  if (!isPlainObject(schema)) return "()";
  const flat = flatten(walk, schema);
  const view = toObjectView(walk, flat);
  const open = view.lossy || hasUnspoken(flat.schema) ? "~(" : "(";
  const parameters = view.properties.map((property) => toParameter(walk, property));
  if (view.rest) parameters.push({ required: false, name: "[key]", full: lazy(() => spellRest(walk, view)) });
  const room = (options.maxChars ?? 200) - open.length - 1;
  const shown = fitParameters(parameters, room, options.requiredOnly ?? false);
  const counted = shown.join(", ");
  const named = nameSingle(shown, parameters).join(", ");
  return `${open}${named.length <= room ? named : counted})`;
}

/** Spells a parameter's type as in a signature. */
export function spellType(walk: SchemaWalk, schema: unknown): string {
  return spell(walk, schema, TOP).text;
}

/** Writes a plain identifier unchanged, any other name as JSON text. */
export function spellName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : (toLiteral(name) ?? '""');
}

interface Parameter {
  readonly required: boolean;
  readonly name: string;
  /** Computed on demand: a signature shows only a few of ten thousand parameters. */
  readonly full: () => string;
}

function toParameter(walk: SchemaWalk, property: Property): Parameter {
  const full = lazy(() => spellProperty(walk, property));
  return { required: property.required, name: spellName(property.name), full };
}

/** Drops optional parameters until the others fit, then the types of required ones. */
function fitParameters(parameters: readonly Parameter[], room: number, requiredOnly: boolean): string[] {
  const required = parameters.filter((parameter) => parameter.required);
  const optional = requiredOnly ? [] : parameters.filter((parameter) => !parameter.required);
  const hidden = parameters.length - required.length;
  const whole = takeWhileFits([...required, ...optional], room - tailLength(hidden - optional.length));
  if (whole.length === required.length + optional.length) {
    return [...whole, ...tail(parameters.length - whole.length)];
  }

  const names = required.map((parameter) => `~${parameter.name}`);
  let used = names.reduce((sum, name) => sum + name.length + SEPARATOR, 0);
  if (used + tailLength(hidden) > room + SEPARATOR) return namesOnly(names, parameters.length, room);
  const shown = required.map((parameter, index) => {
    const growth = parameter.full().length - names[index]!.length;
    if (used + growth + tailLength(hidden) > room + SEPARATOR) return names[index]!;
    used += growth;
    return parameter.full();
  });
  for (const parameter of optional) {
    const next = used + parameter.full().length + SEPARATOR;
    if (next + tailLength(parameters.length - shown.length - 1) > room + SEPARATOR) break;
    used = next;
    shown.push(parameter.full());
  }
  return [...shown, ...tail(parameters.length - shown.length)];
}

/** Shows a single optional parameter by name instead of by count. */
function nameSingle(shown: readonly string[], parameters: readonly Parameter[]): readonly string[] {
  const optional = parameters.filter(({ required }) => !required);
  const hidden = optional.filter(({ full }) => !shown.includes(full()));
  if (shown.at(-1) !== "~1 more" || hidden.length !== 1) return shown;
  return [...shown.slice(0, -1), `~${hidden[0]!.name}?`];
}

const SEPARATOR = ", ".length;

function takeWhileFits(parameters: readonly Parameter[], room: number): string[] {
  const taken: string[] = [];
  let used = 0;
  for (const parameter of parameters) {
    used += parameter.full().length + SEPARATOR;
    if (used > room + SEPARATOR) break;
    taken.push(parameter.full());
  }
  return taken;
}

function namesOnly(names: readonly string[], total: number, room: number): string[] {
  const shown: string[] = [];
  let used = 0;
  for (const name of names) {
    used += name.length + SEPARATOR;
    if (used + tailLength(total - shown.length - 1) > room + SEPARATOR) break;
    shown.push(name);
  }
  return [...shown, ...tail(total - shown.length)];
}

function tail(count: number): string[] {
  return count > 0 ? [`~${count} more`] : [];
}

function tailLength(count: number): number {
  return count > 0 ? `~${count} more`.length + SEPARATOR : 0;
}

interface SignaturePosition {
  /** Nesting depth in objects. */
  readonly objects: number;
  readonly level: number;
}

const TOP: SignaturePosition = { objects: 0, level: 0 };

interface Spelling {
  readonly text: string;
  readonly isUnion: boolean;
}

const MAX_OBJECTS = 2;
const MAX_LEVEL = 6;
const MAX_ALTERNATIVES = 6;
const MAX_PROPERTIES = 12;
const MAX_LITERAL = 100;
const MAX_DEFAULT = 24;
const MAX_TYPE = 1_000;

function spell(walk: SchemaWalk, schema: unknown, place: SignaturePosition): Spelling {
  if (place.level > MAX_LEVEL) return { text: "~any", isUnion: false };
  return bounded(spellFlat(walk, flatten(walk, schema), { ...place, level: place.level + 1 }));
}

function bounded(spelling: Spelling): Spelling {
  return spelling.text.length > MAX_TYPE ? { text: "~any", isUnion: false } : spelling;
}

function spellFlat(walk: SchemaWalk, flat: FlatSchema, place: SignaturePosition): Spelling {
  const { schema } = flat;
  const lossy = flat.lossy || hasUnspoken(schema);
  const nullable = schema.nullable === true ? ["null"] : [];
  if (Object.hasOwn(schema, "const")) return toUnion([...literals([schema.const]), ...nullable], lossy);
  if (Array.isArray(schema.enum)) {
    const shown = literals(schema.enum);
    return toUnion([...shown, ...nullable], lossy || shown.at(-1) === "…");
  }
  const branches = branchesOf(schema);
  if (branches.length > 0 && !isPlainObject(schema.properties)) {
    if (place.level > MAX_LEVEL) return { text: "~any", isUnion: false };
    const spelled = branches
      .slice(0, MAX_ALTERNATIVES)
      .map((branch) =>
        spellFlat(walk, takeBranch(walk, schema, branch), { ...place, level: place.level + 1 }),
      );
    const more = branches.length > MAX_ALTERNATIVES ? ["…"] : [];
    return toUnion(
      [...spelled.map(bounded).map(({ text }) => text), ...more, ...nullable],
      flat.lossy || more.length > 0,
    );
  }
  const types = new Set(typesOf(schema));
  if (types.size === 0) return toUnion(["any", ...nullable], lossy);
  const spelled = [...types]
    .slice(0, MAX_ALTERNATIVES + 1)
    .map((type) => spellOne(walk, type, { schema, lossy }, place));
  return toUnion([...spelled, ...nullable], false);
}

function toUnion(texts: readonly string[], lossy: boolean): Spelling {
  const distinct = [...new Set(texts)];
  const text = distinct.length === 0 ? "never" : distinct.join("|");
  return { text: lossy && !text.startsWith("~") ? `~${text}` : text, isUnion: distinct.length > 1 };
}

function literals(values: readonly unknown[]): string[] {
  const shown: string[] = [];
  for (const value of values.slice(0, MAX_ALTERNATIVES)) {
    const text = toLiteral(value);
    if (text === undefined || text.length > MAX_LITERAL) {
      return shown.length > 0 ? [...shown, "…"] : [`~${Array.isArray(value) ? "array" : typeof value}`];
    }
    shown.push(text);
  }
  return values.length > MAX_ALTERNATIVES ? [...shown, "…"] : shown;
}

function spellOne(walk: SchemaWalk, type: string, flat: FlatSchema, place: SignaturePosition): string {
  switch (type) {
    case "object":
      return spellObject(walk, flat, place);
    case "array":
      return spellArray(walk, flat, place);
    case "string":
      return spellString(flat);
    case "integer":
    case "number":
      return spellNumber(flat, type === "integer");
    case "boolean":
    case "null":
      return mark(type, flat.lossy);
    default:
      return "~any";
  }
}

function mark(text: string, lossy: boolean): string {
  return lossy ? `~${text}` : text;
}

function spellObject(walk: SchemaWalk, flat: FlatSchema, place: SignaturePosition): string {
  const view = toObjectView(walk, flat);
  if (view.properties.length === 0 && !view.rest) {
    const isEmpty =
      flat.schema.additionalProperties === false && !isPlainObject(flat.schema.patternProperties);
    return mark(isEmpty ? "{}" : "object", view.lossy);
  }
  if (place.objects >= MAX_OBJECTS) return "~{…}";
  const inside = { objects: place.objects + 1, level: place.level };
  const fields = view.properties
    .slice(0, MAX_PROPERTIES)
    .map((property) => spellProperty(walk, property, inside));
  if (view.rest) fields.push(spellRest(walk, view, inside));
  fields.push(...tail(view.properties.length - MAX_PROPERTIES));
  return mark(`{ ${fields.join(", ")} }`, view.lossy);
}

function spellProperty(walk: SchemaWalk, property: Property, place = TOP): string {
  const { text } = spell(walk, property.schema, place);
  return `${spellName(property.name)}${property.required ? "" : "?"}: ${text}${spellDefault(walk, property.schema)}`;
}

function spellRest(walk: SchemaWalk, view: ObjectView, place = TOP): string {
  return `[key]: ${spell(walk, view.rest, place).text}`;
}

function spellDefault(walk: SchemaWalk, schema: unknown): string {
  const { schema: flat } = flatten(walk, schema);
  if (!Object.hasOwn(flat, "default")) return "";
  const text = toLiteral(flat.default);
  return text === undefined || text.length > MAX_DEFAULT ? "" : ` = ${text}`;
}

function spellArray(walk: SchemaWalk, { schema, lossy }: FlatSchema, place: SignaturePosition): string {
  const isLossy = lossy || isOverOne(schema.minItems);
  const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : schema.items;
  if (Array.isArray(tuple) && tuple.length > 0) {
    const parts = tuple.slice(0, MAX_ALTERNATIVES).map((item) => spell(walk, item, place).text);
    const hasMore =
      tuple.length > MAX_ALTERNATIVES || isPlainObject(schema.items) || isPlainObject(schema.additionalItems);
    return mark(`[${[...parts, ...(hasMore ? ["…"] : [])].join(", ")}]`, isLossy || hasMore);
  }
  const hasItems = Object.hasOwn(schema, "items") && !Array.isArray(schema.items);
  const item = hasItems ? spell(walk, schema.items, place) : { text: "any", isUnion: false };
  const text = item.isUnion ? `(${item.text})[]` : `${item.text}[]`;
  return text.startsWith("~") ? text : mark(text, isLossy);
}

const NAMED_FORMATS: ReadonlySet<unknown> = new Set(["date", "date-time", "email", "uri", "uuid"]);

function spellString({ schema, lossy }: FlatSchema): string {
  // Generators repeat a format as a pattern, which adds nothing.
  if (NAMED_FORMATS.has(schema.format)) return mark(String(schema.format), lossy);
  const isNarrower = ["format", "pattern", "contentEncoding"].some((keyword) =>
    Object.hasOwn(schema, keyword),
  );
  return mark("string", lossy || isNarrower || isOverOne(schema.minLength));
}

/** Ordinary values have at least one element and respect any maximum, so only a larger minimum gets a mark. */
function isOverOne(size: unknown): boolean {
  return typeof size === "number" && size > 1;
}

function spellNumber({ schema, lossy }: FlatSchema, isInteger: boolean): string {
  const range = toNumericRange(schema);
  const isStepped = isInteger && range.minExclusive && Number.isSafeInteger(range.min);
  const isSteppedBack = isInteger && range.maxExclusive && Number.isSafeInteger(range.max);
  const min = isStepped ? range.min + 1 : range.min;
  const max = isSteppedBack ? range.max - 1 : range.max;
  const above = range.minExclusive && !isStepped ? ">" : "";
  const below = range.maxExclusive && !isSteppedBack ? "<" : "";
  // Generators write the limits of the number type itself as bounds.
  const hasMin = min > Number.MIN_SAFE_INTEGER;
  const hasMax = max < Number.MAX_SAFE_INTEGER;
  const isLossy = lossy || (Object.hasOwn(schema, "multipleOf") && schema.multipleOf !== 1);
  if (hasMin && hasMax) return mark(`${above}${min}..${below}${max}`, isLossy);
  if (hasMin) return mark(`${above || ">="}${min}`, isLossy);
  if (hasMax) return mark(`${below || "<="}${max}`, isLossy);
  return mark(isInteger ? "int" : "number", isLossy);
}

const UNSPOKEN = [
  ...["not", "if", "contains", "patternProperties", "minProperties", "maxProperties"],
  ...["dependentRequired", "dependentSchemas", "dependencies", "$dynamicRef", "$recursiveRef"],
];

/** Whether the schema has rules that a signature cannot express. */
function hasUnspoken(schema: JsonSchema): boolean {
  const { propertyNames } = schema;
  // Generators declare that the names of records are strings, which they always are.
  const isNarrow =
    isPlainObject(propertyNames) && Object.keys(propertyNames).some((keyword) => keyword !== "type");
  return isNarrow || UNSPOKEN.some((keyword) => Object.hasOwn(schema, keyword));
}

/** Writes the type of a result, as in `{ items: { id: number }[] }`; only its field names if it is too long. */
export function toResultType(schema: JsonSchema, maxChars: number): string {
  const whole = spellType(createWalk(schema), schema);
  if (whole.length <= maxChars) return whole;
  const names = Object.keys((schema.properties ?? {}) as object).map(spellName);
  let short = "";
  for (const name of names) {
    const longer = short === "" ? name : `${short}, ${name}`;
    if (longer.length + 8 > maxChars) break;
    short = longer;
  }
  return short === "" ? "~object" : `~{ ${short}, … }`;
}
