import type { z } from "zod";
import type { FieldError } from "../../schema/entry.ts";
import { describeChoices, describeTypes, describeValue, showValue } from "../../util/describe-value.ts";
import { fieldPath } from "../../util/field-path.ts";
import { formatHint } from "../../util/format-hint.ts";
import { missingMessage, unknownMessage } from "../../util/name-messages.ts";

const MAX_ERRORS = 20;
const MAX_REASONS = 3;

type Issue = z.core.$ZodIssue;

/**
 * Turns zod's errors about params into sentences for the caller. `knownNames` are the names that the schema takes
 * at its root.
 */
export function zodFieldErrors(
  error: z.ZodError,
  input: unknown,
  knownNames: readonly string[],
): FieldError[] {
  const errors = error.issues.flatMap((issue) => toErrors(issue, input, knownNames));
  const byText = new Map(
    errors.map((fieldError) => [`${fieldError.field}\n${fieldError.message}`, fieldError]),
  );
  return [...byText.values()].slice(0, MAX_ERRORS);
}

function toErrors(issue: Issue, input: unknown, knownNames: readonly string[]): FieldError[] {
  const { path } = issue;
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((name) => {
      const field = fieldPath([...path, name]);
      // The names that a nested object takes are unknown here.
      if (path.length > 0) return { field, message: "is not known" };
      return { field, ...unknownMessage(name, namesOf(input), knownNames) };
    });
  }
  const field = fieldPath(path);
  const value = valueAt(input, path);
  if (!isMissing(issue, value)) return [{ field, message: messageFor(issue, value) }];
  if (path.length !== 1) return [{ field, message: "is required" }];
  return [{ field, message: missingMessage(String(path[0]), namesOf(input), knownNames) }];
}

/** A missing field fails the first check of its schema, of any kind. */
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
      return `must ${amount(issue.origin, issue.exact, issue.inclusive, issue.minimum, LOW)}${got}`;
    case "too_big":
      return `must ${amount(issue.origin, issue.exact, issue.inclusive, issue.maximum, HIGH)}${got}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}${got}`;
    case "invalid_format":
      return `${formatMessage(issue)}${got}`;
    case "invalid_union":
      if ("options" in issue && issue.options?.length)
        return `must be ${describeChoices(issue.options)}${got}`;
      return unionMessage(issue.errors, value);
    default:
      // The author's own words.
      return issue.message;
  }
}

const LOW = { count: "at least", inclusive: "at least", exclusive: "more than" };
const HIGH = { count: "at most", inclusive: "at most", exclusive: "less than" };
const UNITS: ReadonlyMap<string, string> = new Map([
  ["string", "characters"],
  ["array", "items"],
  ["set", "items"],
  ["map", "names"],
  ["object", "names"],
]);

function amount(
  origin: string,
  exact: boolean | undefined,
  inclusive: boolean | undefined,
  limit: number | bigint,
  words: typeof LOW,
): string {
  const unit = UNITS.get(origin);
  if (unit !== undefined) return `have ${exact ? "exactly" : words.count} ${limit} ${unit}`;
  const shown = origin === "date" ? new Date(Number(limit)).toISOString() : String(limit);
  return `be ${inclusive === false ? words.exclusive : words.inclusive} ${shown}`;
}

function formatMessage(issue: Extract<Issue, { code: "invalid_format" }>): string {
  if (issue.format === "regex" && issue.pattern !== undefined)
    return `must match the pattern ${issue.pattern}`;
  if (issue.format === "starts_with" && "prefix" in issue)
    return `must start with ${showValue(issue.prefix)}`;
  if (issue.format === "ends_with" && "suffix" in issue) return `must end with ${showValue(issue.suffix)}`;
  if (issue.format === "includes" && "includes" in issue) return `must contain ${showValue(issue.includes)}`;
  return `must be ${formatHint(issue.format)}`;
}

/** Says all types or values of the alternatives, or the first few reasons. */
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
