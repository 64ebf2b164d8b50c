import { z } from "zod";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { validateParams } from "../../base/json-schema/validate-params.ts";

const REASONS = ["stop", "length", "content-filter", "tool-calls", "error"] as const;

/** Why an answer ended: `length` if it was cut off, `content-filter` if the provider withheld it. */
export type FinishReason = (typeof REASONS)[number] | "other";

/** Reads the finish reason of an AI SDK model. */
export function toFinishReason(given: string): FinishReason {
  return REASONS.find((reason) => reason === given) ?? "other";
}

/** Tokens of a prompt and its answer. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

const HOLDERS = ["usage", "token_usage", "tokenUsage", "usageMetadata", "usage_metadata"];
const PROMPT = ["prompt_tokens", "input_tokens", "promptTokens", "inputTokens", "promptTokenCount"];
const COMPLETION = [
  "completion_tokens",
  "output_tokens",
  "completionTokens",
  "outputTokens",
  "candidatesTokenCount",
];
const TOTAL = ["total_tokens", "totalTokens", "totalTokenCount"];
/** Counts that some providers report separately: cached prompt tokens and reasoning tokens. */
const APART_PROMPT = ["cache_read_input_tokens", "cache_creation_input_tokens"];
const APART_COMPLETION = ["thoughtsTokenCount"];

/** Reads token counts from response metadata in the format of any provider or the AI SDK. */
export function extractTokenUsage(metadata: unknown): TokenUsage | undefined {
  const given = fieldsOf(metadata);
  const counts = HOLDERS.map((name) => fieldsOf(given?.[name])).find((held) => held !== undefined) ?? given;
  if (!counts) return undefined;
  const prompt = countOf(counts, PROMPT);
  const completion = countOf(counts, COMPLETION);
  if (prompt === undefined && completion === undefined) return undefined;
  const promptTokens = (prompt ?? 0) + sumOf(counts, APART_PROMPT);
  const completionTokens = (completion ?? 0) + sumOf(counts, APART_COMPLETION);
  const totalTokens = countOf(counts, TOTAL) ?? promptTokens + completionTokens;
  return { promptTokens, completionTokens, totalTokens };
}

function fieldsOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

function countOf(counts: Record<string, unknown>, names: readonly string[]): number | undefined {
  return names.map((name) => toCount(counts[name])).find((count) => count !== undefined);
}

function sumOf(counts: Record<string, unknown>, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (toCount(counts[name]) ?? 0), 0);
}

/** A number, or the `total` of the AI SDK's breakdown. */
function toCount(value: unknown): number | undefined {
  const number = fieldsOf(value)?.total ?? value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : undefined;
}

/** The shape of an answer: a zod schema, or a JSON Schema of an object. */
export type OutputSchema<T = unknown> = z.ZodType<T> | JsonSchema;

/** An answer that was read: the value, or why the text does not fit. */
export interface OutputRead<T> {
  readonly output?: T;
  readonly mismatch?: string;
}

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
  if (json === undefined) return { mismatch: "it is not JSON" };
  if (isZod(schema)) {
    const parsed = schema.safeParse(json.value);
    if (parsed.success) return { output: parsed.data as T };
    return { mismatch: z.prettifyError(parsed.error).slice(0, MAX_REASON_CHARS) };
  }
  const checked = await validateParams({ inputSchema: schema }, json.value);
  if (checked.ok) return { output: checked.value as T };
  const reasons = checked.errors.map(({ field, message }) => `${field} ${message}`.trim());
  return { mismatch: reasons.join("; ").slice(0, MAX_REASON_CHARS) };
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
