import type { CompleteResult } from "@modelcontextprotocol/server";
import type { ReadableEntry } from "../schema/entry.ts";

const MAX_VALUES = 100;

type Argument = { readonly name: string; readonly value: string };

/**
 * Completes an argument with the values in its schema that start with the typed text, or else with those that its
 * server suggests. A server that fails suggests nothing.
 */
export async function complete(
  entry: ReadableEntry | undefined,
  argument: Argument,
  given: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<CompleteResult> {
  const own = inSchema(entry, argument);
  if (own.length > 0 || !entry?.complete || entry.status) return toResult(own);
  return toResult(await entry.complete(argument, given, signal).catch(() => []));
}

function toResult(values: readonly string[]): CompleteResult {
  return {
    completion: {
      values: values.slice(0, MAX_VALUES),
      total: values.length,
      hasMore: values.length > MAX_VALUES,
    },
  };
}

function inSchema(entry: ReadableEntry | undefined, argument: Argument): string[] {
  const properties = (entry?.inputSchema.properties ?? {}) as Readonly<Record<string, unknown>>;
  const schema = Object.hasOwn(properties, argument.name) ? properties[argument.name] : undefined;
  const typed = argument.value.toLowerCase();
  return [...new Set(valuesOf(schema))].filter((value) => value.toLowerCase().startsWith(typed));
}

function valuesOf(schema: unknown): string[] {
  if (schema === null || typeof schema !== "object") return [];
  const { enum: choices, examples, type, default: preset } = schema as Readonly<Record<string, unknown>>;
  const named = [choices, examples, preset === undefined ? [] : [preset]].filter(Array.isArray).flat();
  if (type === "boolean") named.push(true, false);
  return named.filter((value) => ["string", "number", "boolean"].includes(typeof value)).map(String);
}
