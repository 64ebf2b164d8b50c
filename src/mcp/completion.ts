import type { CompleteResult } from "@modelcontextprotocol/server";
import type { Entry } from "../schema/entry.ts";

const MAX_VALUES = 100;

/** Completes an argument with the values in its schema that start with the typed text. */
export function toCompletion(
  entry: Entry | undefined,
  argument: { name: string; value: string },
): CompleteResult {
  const properties = (entry?.inputSchema.properties ?? {}) as Readonly<Record<string, unknown>>;
  const schema = Object.hasOwn(properties, argument.name) ? properties[argument.name] : undefined;
  const typed = argument.value.toLowerCase();
  const values = [...new Set(valuesOf(schema))].filter((value) => value.toLowerCase().startsWith(typed));
  return {
    completion: {
      values: values.slice(0, MAX_VALUES),
      total: values.length,
      hasMore: values.length > MAX_VALUES,
    },
  };
}

function valuesOf(schema: unknown): string[] {
  if (schema === null || typeof schema !== "object") return [];
  const { enum: choices, examples, type, default: preset } = schema as Readonly<Record<string, unknown>>;
  const named = [choices, examples, preset === undefined ? [] : [preset]].filter(Array.isArray).flat();
  if (type === "boolean") named.push(true, false);
  return named.filter((value) => ["string", "number", "boolean"].includes(typeof value)).map(String);
}
