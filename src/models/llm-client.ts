import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { createConfiguredModel } from "./configured-model.ts";
import { modelNameOf, serverUrlOf } from "./create-model.ts";
import { toFinishReason } from "./finish-reason.ts";
import type {
  InvokeResult,
  LLMCallOptions,
  LLMClient,
  LLMClientOptions,
  LLMInput,
  StreamChunk,
} from "./llm-client-api.ts";
import { generateOnce, type StartedStream, streamOnce } from "./model-calls.ts";
import { retryConfigSchema } from "./models-config.ts";
import { errorResponse, type ModelErrorResponse, successResponse } from "./providers/model-response.ts";
import { createHost } from "./providers/provider-host.ts";
import { type RetryContext, withRetry } from "./retry.ts";
import { type Attempt, createRetryingModel } from "./retrying-model.ts";
import { type OutputSchema, readOutput, toJsonSchema } from "./structured-output.ts";
import { extractTokenUsage } from "./token-usage.ts";

/**
 * Creates a client for the model that a config names. The model is made at the first call and kept until its
 * config changes. Calls do not throw; failures are a {@link ModelResponse} too.
 *
 * @example
 * ```ts
 * import { createLLMClient } from "keyhole/models";
 * import { serveScriptedModel } from "keyhole/testing";
 *
 * const server = await serveScriptedModel([{ text: "Bern" }]);
 * const local = { baseUrl: `${server.url}/v1`, model: "phi4" };
 * const client = createLLMClient({ config: { providers: { default: "local", local } } });
 * const answer = await client.invoke("What is the capital of Switzerland?");
 * console.assert(answer.success && answer.result.content === "Bern");
 * await server.close();
 * ```
 */
export function createLLMClient(options: LLMClientOptions): LLMClient {
  const { config, callbacks = {}, retry, random = Math.random } = options;
  const host = createHost(options.host);
  const { clock } = host;
  const configNow = () => (typeof config === "function" ? config() : config);
  const model = createConfiguredModel(configNow, host);

  const attempt: Attempt = async (operation, signal) => {
    const rules = retryConfigSchema.safeParse({ ...configNow().retry, ...retry });
    if (!rules.success)
      return failed(errorResponse("PROVIDER_NOT_CONFIGURED", "The retry section of the config is invalid."));
    const onRetry = (context: RetryContext) => tell(() => callbacks.onRetry?.(context));
    const response = await withRetry(operation, {
      config: rules.data,
      onRetry,
      clock,
      random,
      ...(signal ? { signal } : {}),
    });
    return response.success ? response : failed(response);
  };

  function failed(response: ModelErrorResponse): ModelErrorResponse {
    tell(() => callbacks.onError?.(response.error, response.message));
    return response;
  }

  return {
    invoke: async <T>(input: LLMInput, callOptions?: InvokeOptions<T>) => {
      const response = await attempt(async () => {
        const callee = await model.callee();
        return callee.success ? generateOnce(callee.result, toCall(input, callOptions)) : callee;
      }, callOptions?.signal);
      if (!response.success) return response;
      const { content, usage, finishReason } = response.result;
      const counted = extractTokenUsage(usage);
      const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
      const result: InvokeResult<T> = {
        content: text,
        finishReason: toFinishReason(finishReason.unified),
        ...(counted ? { usage: counted } : {}),
        ...(callOptions?.output && (await structured(text, callOptions.output))),
      };
      return successResponse(result, response.message);
    },
    stream: async (input, callOptions) => {
      tell(() => callbacks.onStreamStart?.());
      const response = await attempt(async () => {
        const callee = await model.callee();
        return callee.success ? streamOnce(callee.result, toCall(input, callOptions)) : callee;
      }, callOptions?.signal);
      return response.success
        ? { ...response, result: toChunks(response.result.parts, callbacks, failed) }
        : response;
    },
    languageModel: async () => {
      const callee = await model.callee();
      if (!callee.success) return failed(callee);
      return successResponse(createRetryingModel(callee.result, attempt), callee.message);
    },
    getProviderName: model.provider,
    getServerUrl: () => serverUrlOf(model.provider(), model.part(), host.env),
    getModelName: () => modelNameOf(model.provider(), model.part()),
  };
}

async function* toChunks(
  parts: StartedStream["parts"],
  callbacks: NonNullable<LLMClientOptions["callbacks"]>,
  failed: (response: ModelErrorResponse) => ModelErrorResponse,
): AsyncGenerator<StreamChunk, void> {
  for await (const part of parts) {
    if (part.type === "text-delta") {
      tell(() => callbacks.onStreamChunk?.(part.delta));
      yield { type: "text-delta", text: part.delta };
    } else if (part.type === "finish") {
      const usage = extractTokenUsage(part.usage);
      tell(() => callbacks.onStreamEnd?.(usage));
      yield {
        type: "finish",
        finishReason: toFinishReason(part.finishReason.unified),
        ...(usage ? { usage } : {}),
      };
    } else if (part.type === "failure") {
      const { success: _, ...failure } = failed(part.response);
      yield { type: "error", ...failure };
    }
  }
}

type InvokeOptions<T> = LLMCallOptions & { readonly output?: OutputSchema<T> };

function toCall<T>(input: LLMInput, options: InvokeOptions<T> = {}): LanguageModelV4CallOptions {
  const { maxTokens, temperature, signal, output } = options;
  return {
    prompt: typeof input === "string" ? [{ role: "user", content: [{ type: "text", text: input }] }] : input,
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(signal ? { abortSignal: signal } : {}),
    ...(output ? { responseFormat: { type: "json", schema: toJsonSchema(output) } } : {}),
  };
}

/** An answer that does not fit keeps its text. */
async function structured<T>(
  text: string,
  schema: OutputSchema<T>,
): Promise<Pick<InvokeResult<T>, "output" | "mismatch">> {
  const read = await readOutput(text, schema);
  return read.ok ? { output: read.value } : { mismatch: read.reason };
}

function tell(callback: () => void): void {
  try {
    callback();
  } catch {
    // A callback must not break the call.
  }
}
