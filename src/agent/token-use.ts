import type { LanguageModelUsage } from "ai";
import type { TokenUse } from "./agent-event.ts";

/** The tokens of a request, as the provider has counted them. */
export function toTokenUse({
  inputTokens = 0,
  outputTokens = 0,
  inputTokenDetails,
}: LanguageModelUsage): TokenUse {
  const cacheWritten = inputTokenDetails?.cacheWriteTokens ?? 0;
  return {
    input: inputTokens,
    output: outputTokens,
    cached: inputTokenDetails?.cacheReadTokens ?? 0,
    ...(cacheWritten > 0 && { cacheWritten }),
  };
}

export function plus(one: TokenUse, other: TokenUse): TokenUse {
  const cacheWritten = (one.cacheWritten ?? 0) + (other.cacheWritten ?? 0);
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cached: one.cached + other.cached,
    ...(cacheWritten > 0 && { cacheWritten }),
  };
}
