import type { ErrorObject } from "ajv";
import { nearest } from "../util/nearest.ts";
import { fieldsOf, type PlainObject } from "../util/plain-object.ts";
import { describeChoices, describeTypes, describeValue, showValue } from "./describe-value.ts";

const MAX_REASONS = 3;

/** Describes the required value, in words that follow the field's name. */
export function keywordMessage(error: ErrorObject): string {
  const { keyword, params, data, schema } = error;
  const got = `, got ${describeValue(data)}`;
  switch (keyword) {
    case "type":
      return `must be ${describeTypes([params.type].flat().map(String))}${got}`;
    case "enum":
    case "const":
      return `must be ${describeChoices(choicesOf(error))}${got}`;
    case "minimum":
    case "maximum":
    case "exclusiveMinimum":
    case "exclusiveMaximum":
      return `must be ${LIMITS[keyword]} ${params.limit}${got}`;
    case "multipleOf":
      return `must be a multiple of ${params.multipleOf}${got}`;
    case "minLength":
    case "minItems":
    case "minProperties":
      return `must have at least ${params.limit} ${UNITS[keyword]}${got}`;
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      return `must have at most ${params.limit} ${UNITS[keyword]}${got}`;
    case "pattern":
      return `must match the pattern ${showValue(params.pattern)}${got}`;
    case "format":
      return `must be ${formatHint(String(params.format))}${got}`;
    case "uniqueItems":
      return repeatedMessage(data);
    case "contains":
      return `must have at least ${params.minContains ?? 1} items of the kind it has to contain`;
    case "propertyNames":
      return `must not have the name ${showValue(params.propertyName)}`;
    case "not":
      return `must not be of the excluded form${got}`;
    case "false schema":
      return "must not be given";
    case "unevaluatedItems":
    case "items":
      return `must have at most ${params.len ?? params.limit} items${got}`;
    default:
      return `${error.message ?? `breaks the rule ${keyword}: ${showValue(schema)}`}${got}`;
  }
}

/** Says why no alternative fits: all their types or values, or the first few reasons. */
export function unionMessage(error: ErrorObject, branches: readonly ErrorObject[]): string {
  if (error.params.passingSchemas) return "must fit exactly one of the allowed forms, and fits several";
  const got = `, got ${describeValue(error.data)}`;
  const here = branches.filter(({ instancePath }) => instancePath === error.instancePath);
  const types = here.filter(({ keyword }) => keyword === "type");
  const choices = here.filter(isChoice);
  if (branches.length === types.length + choices.length && branches.length > 0) {
    const parts = [];
    if (choices.length > 0) parts.push(describeChoices(choices.flatMap(choicesOf)));
    if (types.length > 0)
      parts.push(describeTypes(types.flatMap(({ params }) => [params.type].flat().map(String))));
    return `must be ${parts.join(" or ")}${got}`;
  }
  const reasons = new Set(
    mergeChoices(branches.filter((branch) => !types.includes(branch))).map((branch) => reason(branch, error)),
  );
  const shown = [...reasons].slice(0, MAX_REASONS).join("; or ");
  const more = reasons.size > MAX_REASONS ? `; and ${reasons.size - MAX_REASONS} more` : "";
  return `must fit one of the allowed forms${shown && `: ${shown}${more}`}`;
}

const LIMITS = {
  minimum: "at least",
  maximum: "at most",
  exclusiveMinimum: "more than",
  exclusiveMaximum: "less than",
} as const;

const UNITS = {
  minLength: "characters",
  maxLength: "characters",
  minItems: "items",
  maxItems: "items",
  minProperties: "names",
  maxProperties: "names",
} as const;

/** Merges alternatives that want different values at the same path. */
function mergeChoices(branches: readonly ErrorObject[]): ErrorObject[] {
  const byPlace = Map.groupBy(branches, (branch) => (isChoice(branch) ? branch.instancePath : branch));
  return [...byPlace.values()].map((group) => {
    const [first] = group as [ErrorObject];
    if (group.length === 1) return first;
    return { ...first, keyword: "enum", params: { allowedValues: group.flatMap(choicesOf) } };
  });
}

function isChoice({ keyword }: ErrorObject): boolean {
  return keyword === "enum" || keyword === "const";
}

function choicesOf({ keyword, params }: ErrorObject): readonly unknown[] {
  return keyword === "const" ? [params.allowedValue] : [params.allowedValues].flat();
}

function repeatedMessage(data: unknown): string {
  const positions = Array.isArray(data) ? findRepeated(data) : undefined;
  return `must not repeat items${positions ? `: ${positions[0]} and ${positions[1]} are the same` : ""}`;
}

function reason(branch: ErrorObject, choice: ErrorObject): string {
  const below = branch.instancePath.slice(choice.instancePath.length + 1).replaceAll("/", ".");
  const { keyword, params } = branch;
  if (keyword === "required")
    return `${showValue([below, params.missingProperty].filter(Boolean).join("."))} is required`;
  if (keyword === "additionalProperties") return `${showValue(params.additionalProperty)} is not known`;
  const message =
    keyword === "anyOf" || keyword === "oneOf" ? "must fit one of its forms" : keywordMessage(branch);
  return `${below === "" ? "it" : showValue(below)} ${message}`;
}

const MAX_NAMES = 12;

/** Says that a name is missing, and which sent name was probably meant. */
export function missingMessage(missing: string, given: PlainObject, known: readonly string[]): string {
  const unknown = new Set(Object.keys(given)).difference(new Set(known));
  const outer = [...unknown].find((name) => Object.hasOwn(fieldsOf(given[name]), missing));
  if (outer !== undefined) return `is required; move it out of ${showValue(outer)}`;
  const [only = ""] = unknown;
  // A single unknown name without a near match stands for the missing one: `file` for `path`.
  const isAlone = unknown.size === 1 && nearest(only, known, 1).every((name) => name === missing);
  const [meant] = isAlone ? [only] : nearest(missing, unknown, 1);
  if (meant === undefined) return "is required";
  return `is required; rename ${showValue(meant)} to ${showValue(missing)} if you meant that`;
}

/** Says that a name is unknown, with the nearest unused name, or all names. */
export function unknownMessage(
  name: string,
  given: readonly string[],
  known: readonly string[],
): { message: string; nearest?: string } {
  const [best] = nearest(name, new Set(known).difference(new Set(given)), 1);
  if (best !== undefined) return { message: `is not known; did you mean ${showValue(best)}?`, nearest: best };
  if (known.length === 0) return { message: "is not known; none is accepted here" };
  const shown = known.slice(0, MAX_NAMES).map(showValue).join(", ");
  const more = known.length > MAX_NAMES ? ` and ${known.length - MAX_NAMES} more` : "";
  return { message: `is not known; the names are ${shown}${more}` };
}

const HINTS: ReadonlyMap<string, string> = new Map([
  ["date-time", "a date and time with its zone, such as 2026-01-31T09:00:00Z"],
  ["datetime", "a date and time with its zone, such as 2026-01-31T09:00:00Z"],
  ["date", "a date, such as 2026-01-31"],
  ["time", "a time with its zone, such as 09:00:00Z"],
  ["duration", "a duration, such as P1DT12H"],
  ["email", "an e-mail address, such as ada@example.com"],
  ["uri", "a URI, such as https://example.com/a"],
  ["url", "a URL, such as https://example.com/a"],
  ["uuid", "a UUID, such as 123e4567-e89b-12d3-a456-426614174000"],
  ["ipv4", "an IPv4 address, such as 192.0.2.1"],
  ["ipv6", "an IPv6 address, such as 2001:db8::1"],
  ["hostname", "a host name, such as api.example.com"],
]);

/** Describes a text format, with an example for known formats. */
export function formatHint(format: string): string {
  return HINTS.get(format) ?? `text in the format ${JSON.stringify(format.slice(0, 40))}`;
}

/** Finds two equal items and returns their positions. The order of keys does not matter. */
export function findRepeated(items: readonly unknown[]): readonly [number, number] | undefined {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const key = JSON.stringify(item, sortKeys) ?? "";
    const earlier = seen.get(key);
    if (earlier !== undefined) return [earlier, index];
    seen.set(key, index);
  }
  return undefined;
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // Wrapped, so that an object never equals a list with the same content.
  return { sorted: Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) };
}
