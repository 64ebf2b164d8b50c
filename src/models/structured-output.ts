import { z } from "zod";
import { validateParams } from "../catalog/validate-params.ts";
import type { JsonSchema } from "../schema/json-schema.ts";

/** The shape of an answer: a zod schema, or a JSON Schema of an object. */
export type OutputSchema<T = unknown> = z.ZodType<T> | JsonSchema;

/** An answer that was read: the value, or why the text does not fit. */
export type OutputRead<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

const MAX_REASON_CHARS = 1_000;

/** The schema as providers take it. */
export function toJsonSchema(schema: OutputSchema): JsonSchema {
  return isZod(schema) ? (z.toJSONSchema(schema) as JsonSchema) : schema;
}

/**
 * Reads a model's answer as JSON of that shape.
 *
 * @throws SCHEMA_REJECTED if a JSON Schema is not usable
 */
export async function readOutput<T>(text: string, schema: OutputSchema<T>): Promise<OutputRead<T>> {
  const json = parse(text);
  if (json === undefined) return { ok: false, reason: "it is not JSON" };
  if (isZod(schema)) {
    const parsed = schema.safeParse(json.value);
    if (parsed.success) return { ok: true, value: parsed.data as T };
    return { ok: false, reason: z.prettifyError(parsed.error).slice(0, MAX_REASON_CHARS) };
  }
  const checked = await validateParams({ inputSchema: schema }, json.value);
  if (checked.ok) return { ok: true, value: checked.value as T };
  const reasons = checked.errors.map(({ field, message }) => `${field} ${message}`.trim());
  return { ok: false, reason: reasons.join("; ").slice(0, MAX_REASON_CHARS) };
}

function isZod<T>(schema: OutputSchema<T>): schema is z.ZodType<T> {
  return typeof (schema as { safeParse?: unknown }).safeParse === "function";
}

/** Models often wrap the requested JSON in a code fence. */
function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text.trim().replace(/^```(?:json)?\n?|\n?```$/g, "")) };
  } catch {
    return undefined;
  }
}
