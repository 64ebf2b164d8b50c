import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { type Callee, generateOnce, type StartedStream, streamOnce } from "./model-calls.ts";
import type { ModelResponse } from "./providers/model-response.ts";
import { toModelProblem } from "./to-model-problem.ts";

/** Runs a call with the client's retries. */
export type Attempt = <T>(
  operation: () => Promise<ModelResponse<T>>,
  signal: AbortSignal | undefined,
) => Promise<ModelResponse<T>>;

/**
 * A model for the AI SDK with the client's retries; use it with `maxRetries: 0`. Its calls throw, as the AI SDK
 * expects: the reason of an aborted signal, otherwise the problem of the failure's code.
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
      return resultOf(await attempt(() => generateOnce(callee, options), signal), signal);
    },
    doStream: async (options) => {
      const signal = options.abortSignal;
      const { parts, ...about } = resultOf(await attempt(() => streamOnce(callee, options), signal), signal);
      return { ...about, stream: ReadableStream.from(toStreamParts(parts, signal)) };
    },
  };
}

function resultOf<T>(response: ModelResponse<T>, signal: AbortSignal | undefined): T {
  if (response.success) return response.result;
  signal?.throwIfAborted();
  throw toModelProblem(response);
}

async function* toStreamParts(
  parts: StartedStream["parts"],
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  for await (const part of parts) {
    if (part.type !== "failure") yield part;
    else {
      signal?.throwIfAborted();
      yield { type: "error", error: toModelProblem(part.response) };
    }
  }
}
