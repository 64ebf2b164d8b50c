import type { z } from "zod";
import type { Problem } from "../problems/problem.ts";
import { nearest } from "../util/nearest.ts";
import { describeChoices } from "./describe-value.ts";
import { fieldPath } from "./field-path.ts";
import { formatHint } from "./keyword-message.ts";

type ConfigIssue = z.core.$ZodIssue;

/** Types of zod in the words of people who write a config. */
const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** Says which key of a config is wrong and what is allowed there, never the value. */
export function configMistakes(schema: unknown, issue: ConfigIssue): string {
  if (issue.code !== "unrecognized_keys")
    return `${issue.path.length === 0 ? "it" : fieldPath(issue.path)} ${issueReason(issue)}`;
  const keys = keysAt(schema, issue.path);
  return issue.keys.map((key) => `${fieldPath([...issue.path, key])} ${unknownKey(key, keys)}`).join("; ");
}

/** Parses a part of a config. Throws `wrong` with all mistakes. */
export function readPart<T extends z.ZodType>(
  schema: T,
  value: unknown,
  wrong: (mistakes: string) => Problem,
): z.output<T> {
  const parsed = schema.safeParse(value, UNCOMPILED);
  if (parsed.success) return parsed.data;
  throw wrong(parsed.error.issues.map((issue) => configMistakes(schema, issue)).join("; "));
}

/** Checks a value without compiling the schema, which takes longer than the few checks of a start. */
export const UNCOMPILED = { jitless: true } as const;

/** Says that a key is unknown, with the nearest key or else all. */
export function unknownKey(key: string, keys: readonly string[]): string {
  const [near] = nearest(key, keys, 1);
  return `is not known; ${near === undefined ? `known keys: ${keys.join(", ")}` : `the nearest key is ${near}`}`;
}

/** The mistake in words that follow the name of a key. */
export function issueReason(issue: ConfigIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeName(issue.expected)}`;
    case "invalid_value":
      return `must be ${describeChoices(issue.values)}`;
    case "too_small":
      if (issue.origin === "string") return "must not be empty";
      return `must ${verbOf(issue)} ${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`;
    case "too_big":
      return `must ${verbOf(issue)} at most ${issue.maximum}${issue.origin === "string" ? " characters" : ""}`;
    case "invalid_format":
      return issue.format === "regex" ? `must match ${issue.pattern}` : `must be ${formatHint(issue.format)}`;
    case "invalid_union": {
      const types = issue.errors.flat().flatMap((one) => (one.code === "invalid_type" ? [one.expected] : []));
      return `must be ${[...new Set(types.map(typeName))].join(" or ") || "of another form"}`;
    }
    default:
      return `is wrong: ${issue.message}`;
  }
}

/** The allowed keys at a path of a schema. */
export function keysAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  let at = unwrap(schema);
  for (const key of path) at = unwrap(at.shape?.[String(key)] ?? at.valueType ?? at.element);
  return Object.keys(at.shape ?? {}).filter((key) => key !== "$schema");
}

interface Container {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly valueType?: unknown;
  readonly element?: unknown;
}

function unwrap(schema: unknown): Container {
  // Lists also have a method of this name, and an element.
  const { unwrap: open, element } = (schema ?? {}) as Container & { unwrap?(): unknown };
  return element === undefined && open ? unwrap(open.call(schema)) : ((schema ?? {}) as Container);
}

/** Numbers "are" at most 5; texts and lists "have" at most 5. */
function verbOf({ origin }: { readonly origin: string }): string {
  return origin === "number" || origin === "int" ? "be" : "have";
}

function typeName(expected: string): string {
  return TYPES[expected] ?? `a ${expected}`;
}
