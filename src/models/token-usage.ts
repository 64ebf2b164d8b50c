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
