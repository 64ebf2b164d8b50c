import type { z } from "zod";
import { issueReason } from "../../base/json-schema/zod-mistakes.ts";
import type { PlainObject } from "../../base/util/plain-object.ts";

const MOST_REASONS = 5;

/**
 * Reads fields as clients and models send them: `null` counts as absent, and so does an empty text where the schema
 * refuses it. A field that is missing is taken from its other spellings, the first of `aliases` before the next.
 * `unknown` names the fields that the schema lacks.
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

/** Why an input does not fit its schema, in one line. */
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

/** The value that a JSON text stands for, or the text itself if it is not JSON. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
