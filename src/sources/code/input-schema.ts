import { z } from "zod";
import type { InputSchema } from "../../schema/definition.ts";
import type { ParseOutcome } from "../../schema/entry.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { zodFieldErrors } from "./zod-field-errors.ts";

interface Input {
  readonly inputSchema: JsonSchema;
  readonly parse?: (params: unknown) => ParseOutcome;
}

/** Reads a definition's input schema: as JSON Schema to show, with zod's own parser if it is a zod schema. */
export function readInputSchema(schema: InputSchema | undefined): Input {
  if (schema === undefined) return { inputSchema: { type: "object", properties: {} } };
  if (!(schema instanceof z.ZodType)) return { inputSchema: schema };

  const inputSchema = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema;
  const names = Object.keys((inputSchema.properties as object | undefined) ?? {});
  return { inputSchema, parse: (params) => parseWith(schema, params ?? {}, names) };
}

/**
 * The JSON Schema of a tool's results; undefined for results that are no objects, which clients cannot take as
 * structured content. Results are not parsed, so they have the form that goes into a zod schema.
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
