import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { problem } from "../schema/problem.ts";
import { type Callee, generateOnce, type StartedStream, streamOnce } from "./model-calls.ts";
import type { ModelErrorResponse, ModelResponse } from "./model-response.ts";

/** Does a call by the client's rules of retrying. */
export type Attempt = <T>(
  operation: () => Promise<ModelResponse<T>>,
  signal: AbortSignal | undefined,
) => Promise<ModelResponse<T>>;

/**
 * The model for the AI SDK, with the same retries; use it with `maxRetries: 0`. As that contract has it, its calls
 * throw: the reason of a signal that was given, else a problem, MODEL_FAILED, with the failure's code in its details.
 */
export function createRetryingModel(callee: Callee, attempt: Attempt): LanguageModelV4 {
  const { model } = callee;
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (options) => {
      const signal = options.abortSignal;
      return resultOf(callee, await attempt(() => generateOnce(callee, options), signal), signal);
    },
    doStream: async (options) => {
      const signal = options.abortSignal;
      const started = resultOf(callee, await attempt(() => streamOnce(callee, options), signal), signal);
      const { parts, ...about } = started;
      return { ...about, stream: ReadableStream.from(toStreamParts(callee, parts, signal)) };
    },
  };
}

function resultOf<T>(callee: Callee, response: ModelResponse<T>, signal: AbortSignal | undefined): T {
  if (response.success) return response.result;
  signal?.throwIfAborted();
  throw toProblem(callee, response);
}

async function* toStreamParts(
  callee: Callee,
  parts: StartedStream["parts"],
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  for await (const part of parts) {
    if (part.type !== "failure") yield part;
    else {
      signal?.throwIfAborted();
      yield { type: "error", error: toProblem(callee, part.response) };
    }
  }
}

function toProblem({ provider }: Callee, { error, message, retryAfterMs }: ModelErrorResponse) {
  const details = { code: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  return problem("MODEL_FAILED", { provider, reason: message }, details);
}
