import { z } from "zod";
import {
  describeChoices,
  describeTypes,
  describeValue,
  showValue,
} from "../../base/json-schema/describe-value.ts";
import type { FieldError, ParseOutcome } from "../../base/json-schema/field-error.ts";
import { fieldPath } from "../../base/json-schema/field-path.ts";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { formatHint, missingMessage, unknownMessage } from "../../base/json-schema/keyword-message.ts";
import { fieldsOf } from "../../base/util/plain-object.ts";
import type { InputSchema } from "../../core/nouns/definition.ts";
import type { Entry } from "../../core/nouns/entry.ts";

/** Reads a definition's input schema: JSON Schema to show, and zod's parser for a zod schema. */
export function readInputSchema(schema: InputSchema | undefined): Pick<Entry, "inputSchema" | "parse"> {
  if (schema === undefined) return { inputSchema: { type: "object", properties: {} } };
  if (!(schema instanceof z.ZodType)) return { inputSchema: schema };

  const inputSchema = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema;
  const names = Object.keys((inputSchema.properties as object | undefined) ?? {});
  return { inputSchema, parse: (params) => parseWith(schema, params ?? {}, names) };
}

/**
 * JSON Schema of a tool's results; undefined for non-objects, which clients do not accept as structured content.
 * Results are not parsed, so they have the input form of a zod schema.
 */
export function readOutputSchema(schema: InputSchema): JsonSchema | undefined {
  const { inputSchema } = readInputSchema(schema);
  const { $schema: _, type = "object", ...rest } = inputSchema;
  return type === "object" ? { type, ...rest } : undefined;
}

function parseWith(schema: z.ZodType, params: unknown, names: readonly string[]): ParseOutcome {
  const parsed = schema.safeParse(params);
  if (!parsed.success) return { ok: false, errors: zodFieldErrors(parsed.error, params, names) };
  return { ok: true, value: parsed.data as Record<string, unknown> };
}

const MAX_ERRORS = 20;
const MAX_REASONS = 3;

type Issue = z.core.$ZodIssue;

/** Turns zod's errors about params into sentences. `knownNames` are the root names of the schema. */
export function zodFieldErrors(
  error: z.ZodError,
  input: unknown,
  knownNames: readonly string[],
): FieldError[] {
  const errors = error.issues.flatMap((issue) => toErrors(issue, input, knownNames));
  const byText = new Map(errors.map((one) => [`${one.field}\n${one.message}`, one]));
  return [...byText.values()].slice(0, MAX_ERRORS);
}

function toErrors(issue: Issue, input: unknown, knownNames: readonly string[]): FieldError[] {
  const { path } = issue;
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((name) => {
      const field = fieldPath([...path, name]);
      // The names of a nested object are unknown here.
      if (path.length > 0) return { field, message: "is not known" };
      return { field, ...unknownMessage(name, namesOf(input), knownNames) };
    });
  }
  const field = fieldPath(path);
  const value = valueAt(input, path);
  if (!isMissing(issue, value)) return [{ field, message: messageFor(issue, value) }];
  if (path.length !== 1) return [{ field, message: "is required" }];
  return [{ field, message: missingMessage(String(path[0]), fieldsOf(input), knownNames) }];
}

/** A missing field fails the first check of its schema, whatever its kind. */
function isMissing(issue: Issue, value: unknown): boolean {
  if (value !== undefined || issue.path.length === 0) return false;
  return issue.code === "invalid_type" || issue.code === "invalid_value" || issue.code === "invalid_union";
}

function messageFor(issue: Issue, value: unknown): string {
  const got = `, got ${describeValue(value)}`;
  switch (issue.code) {
    case "invalid_type":
      return `must be ${describeTypes([issue.expected === "int" ? "integer" : issue.expected])}${got}`;
    case "invalid_value":
      return `must be ${describeChoices(issue.values)}${got}`;
    case "too_small":
      return `must ${amount(issue, issue.minimum, LOW)}${got}`;
    case "too_big":
      return `must ${amount(issue, issue.maximum, HIGH)}${got}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}${got}`;
    case "invalid_format":
      return `${formatIssue(issue)}${got}`;
    case "invalid_union":
      if ("options" in issue && issue.options?.length)
        return `must be ${describeChoices(issue.options)}${got}`;
      return unionMessage(issue.errors, value);
    default:
      // The author's own words.
      return issue.message;
  }
}

const LOW = { inclusive: "at least", exclusive: "more than" };
const HIGH = { inclusive: "at most", exclusive: "less than" };
const UNITS: ReadonlyMap<string, string> = new Map([
  ["string", "characters"],
  ["array", "items"],
  ["set", "items"],
  ["map", "names"],
  ["object", "names"],
]);

type LimitIssue = Extract<Issue, { code: "too_small" | "too_big" }>;

function amount({ origin, exact, inclusive }: LimitIssue, limit: number | bigint, words: typeof LOW): string {
  const unit = UNITS.get(origin);
  if (unit !== undefined) return `have ${exact ? "exactly" : words.inclusive} ${limit} ${unit}`;
  const shown = origin === "date" ? new Date(Number(limit)).toISOString() : String(limit);
  return `be ${inclusive === false ? words.exclusive : words.inclusive} ${shown}`;
}

function formatIssue(issue: Extract<Issue, { code: "invalid_format" }>): string {
  if (issue.format === "regex" && issue.pattern !== undefined)
    return `must match the pattern ${issue.pattern}`;
  if (issue.format === "starts_with" && "prefix" in issue)
    return `must start with ${showValue(issue.prefix)}`;
  if (issue.format === "ends_with" && "suffix" in issue) return `must end with ${showValue(issue.suffix)}`;
  if (issue.format === "includes" && "includes" in issue) return `must contain ${showValue(issue.includes)}`;
  return `must be ${formatHint(issue.format)}`;
}

/** Lists all types or values of the alternatives, or the first few reasons. */
function unionMessage(alternatives: readonly (readonly Issue[])[], value: unknown): string {
  const issues = alternatives.flat();
  const here = issues.filter(({ path }) => path.length === 0);
  const types = here.flatMap((issue) => (issue.code === "invalid_type" ? [issue.expected] : []));
  const choices = here.flatMap((issue) => (issue.code === "invalid_value" ? issue.values : []));
  const plain = here.every(({ code }) => code === "invalid_type" || code === "invalid_value");
  if (plain && here.length > 0 && here.length === issues.length) {
    const parts = [];
    if (choices.length > 0) parts.push(describeChoices(choices));
    if (types.length > 0) parts.push(describeTypes(types));
    return `must be ${parts.join(" or ")}, got ${describeValue(value)}`;
  }
  const reasons = issues
    .filter(({ path, code }) => path.length > 0 || code !== "invalid_type")
    .map((issue) => `${fieldPath(issue.path) || "it"} ${reasonFor(issue, value)}`);
  const shown = [...new Set(reasons)].slice(0, MAX_REASONS).join("; or ");
  return `must fit one of the allowed forms${shown && `: ${shown}`}`;
}

function reasonFor(issue: Issue, base: unknown): string {
  if (issue.code === "invalid_union") return "must fit one of its forms";
  if (issue.code === "unrecognized_keys")
    return `does not take ${issue.keys.slice(0, 3).map(showValue).join(", ")}`;
  const value = valueAt(base, issue.path);
  return isMissing(issue, value) ? "is required" : messageFor(issue, value);
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let at = root;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}

function namesOf(value: unknown): string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}
