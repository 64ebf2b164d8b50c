import { z } from "zod";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { validateParams } from "../../base/json-schema/validate-params.ts";
import { field, isPlainObject } from "../../base/util/plain-object.ts";

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

const HOLDERS = ["usage", "token_usage", "tokenUsage"];
const PROMPT = ["inputTokens", "input_tokens", "prompt_tokens", "promptTokens"];
const COMPLETION = ["outputTokens", "output_tokens", "completion_tokens", "completionTokens"];
const TOTAL = ["totalTokens", "total_tokens"];

/**
 * Reads token counts from the usage of the AI SDK, or from metadata as providers write it.
 *
 * @example
 * ```ts
 * import { extractTokenUsage } from "keyhole/models";
 *
 * const usage = extractTokenUsage({ usage: { input_tokens: 3, output_tokens: 4 } });
 * console.assert(usage?.totalTokens === 7);
 * ```
 */
export function extractTokenUsage(metadata: unknown): TokenUsage | undefined {
  const holder = HOLDERS.map((name) => field(metadata, name)).find(isPlainObject) ?? metadata;
  const count = (names: readonly string[]) =>
    names.map((name) => toCount(field(holder, name))).find((each) => each !== undefined);
  const prompt = count(PROMPT);
  const completion = count(COMPLETION);
  if (prompt === undefined && completion === undefined) return undefined;
  const [promptTokens, completionTokens] = [prompt ?? 0, completion ?? 0];
  return { promptTokens, completionTokens, totalTokens: count(TOTAL) ?? promptTokens + completionTokens };
}

/** A number, or the `total` of the AI SDK's breakdown. */
function toCount(value: unknown): number | undefined {
  const number = field(value, "total") ?? value;
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
