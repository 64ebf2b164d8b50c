import { z } from "zod";
import { problem } from "../schema/problem.ts";
import { isFields } from "../util/fields.ts";
import type { Operation } from "./operation.ts";

/** The fields of an input schema, as far as it has any. */
type Shape = Readonly<Record<string, z.ZodType>>;

export interface ReadInput<T> {
  readonly input: T;
  /** Fields that were sent and are unknown. */
  readonly ignored: readonly string[];
}

const MOST_REASONS = 5;
/** Gemini CLI offers this field beside those of every tool and forwards it. */
const ADDED_BY_CLIENTS: ReadonlySet<string> = new Set(["wait_for_previous"]);
const NOTHING: readonly string[] = [];

/**
 * Reads an input as clients and models send it: `null` and empty optional fields count as absent, other spellings
 * of a field are accepted, unknown fields are ignored and reported, unless a client added them by itself.
 *
 * @throws INVALID_INPUT if the rest does not fit the operation's schema.
 */
export function readInput<I extends z.ZodType>(
  operation: Pick<Operation<I, unknown, z.ZodType>, "name" | "input" | "aliases" | "isReadAsIs">,
  given: unknown,
): ReadInput<z.output<I>> {
  if (isFields(given) && operation.isReadAsIs?.(given))
    return { input: given as z.output<I>, ignored: NOTHING };
  const shape = shapeOf(operation.input);
  const { fields, ignored } = isFields(given)
    ? tidy(given, shape, operation.aliases ?? {})
    : { fields: given ?? {}, ignored: [] };
  const parsed = operation.input.safeParse(fields);
  if (parsed.success) return { input: parsed.data, ignored };
  throw invalidInput(operation.name, parsed.error);
}

function tidy(
  given: Readonly<Record<string, unknown>>,
  shape: Shape,
  aliases: Readonly<Record<string, string>>,
): { fields: Record<string, unknown>; ignored: string[] } {
  const fields: Record<string, unknown> = {};
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (Object.hasOwn(shape, name)) {
      if (!isAbsent(value, shape[name]!)) fields[name] = value;
      continue;
    }
    const meant = Object.hasOwn(aliases, name) ? aliases[name]! : undefined;
    if (meant !== undefined && isMissing(given, meant)) fields[meant] ??= value;
    else if (!ADDED_BY_CLIENTS.has(name)) ignored.push(name);
  }
  return { fields, ignored };
}

function isMissing(given: Readonly<Record<string, unknown>>, name: string): boolean {
  return given[name] === undefined || given[name] === null;
}

/** An empty text counts as absent, except for fields where it is a value, such as a path. */
function isAbsent(value: unknown, schema: z.ZodType): boolean {
  if (value === null) return true;
  return value === "" && !schema.safeParse("").success;
}

function shapeOf(schema: z.ZodType): Shape {
  return schema instanceof z.ZodObject ? (schema.shape as Shape) : {};
}

function invalidInput(operation: string, error: z.ZodError) {
  const reasons = error.issues.slice(0, MOST_REASONS).map(toReason);
  return problem("INVALID_INPUT", { operation, reason: reasons.join("; ") });
}

function toReason({ path, message }: z.core.$ZodIssue): string {
  if (path.length === 0) return message;
  const field = path.join(".");
  return message.endsWith("received undefined") ? `${field} is required` : `${field}: ${message}`;
}
