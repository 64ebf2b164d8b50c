import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { DEFAULT_PROVIDER, type ModelsConfig, type RetryConfig, retryConfigSchema } from "./config.ts";
import { createModel } from "./create-model.ts";
import { type Callee, generateOnce, type StartedStream, streamOnce } from "./model-calls.ts";
import {
  errorResponse,
  type ModelErrorCode,
  type ModelErrorResponse,
  type ModelResponse,
  successResponse,
} from "./model-response.ts";
import { type Surroundings, surroundingsWith } from "./provider.ts";
import { type RetryContext, withRetry } from "./retry.ts";
import { type Attempt, createRetryingModel } from "./retrying-model.ts";
import { extractTokenUsage, type TokenUsage } from "./token-usage.ts";

/** Told what happens; what they throw is ignored. */
export interface LLMCallbacks {
  /** Once for each stream, before the first attempt. */
  readonly onStreamStart?: () => void;
  readonly onStreamChunk?: (chunk: string) => void;
  /** When a stream has come to its end. */
  readonly onStreamEnd?: (usage?: TokenUsage) => void;
  /** Once for each call that failed, after the retries. */
  readonly onError?: (error: ModelErrorCode, message: string) => void;
  /** Before each wait for another attempt. */
  readonly onRetry?: (context: RetryContext) => void;
}

export interface LLMClientOptions {
  /** A function is asked with each call, so that changes take effect. */
  readonly config: ModelsConfig | (() => ModelsConfig);
  readonly callbacks?: LLMCallbacks;
  /** Goes before the config's `retry`. */
  readonly retry?: Partial<RetryConfig>;
  readonly random?: () => number;
  readonly surroundings?: Partial<Surroundings>;
}

/** A prompt of one user message, or messages as the AI SDK's models take them. */
export type LLMInput = string | LanguageModelV4Prompt;

export interface LLMCallOptions {
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly signal?: AbortSignal;
}

export interface InvokeResult {
  readonly content: string;
  readonly usage?: TokenUsage;
}

/** A stream ends with `finish` or with `error`, never by throwing. */
export type StreamChunk =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "finish"; readonly usage?: TokenUsage }
  | ({ readonly type: "error" } & Omit<ModelErrorResponse, "success">);

export type StreamResult = AsyncIterable<StreamChunk>;

/** Calls the model that a config names. Nothing of it throws. */
export interface LLMClient {
  invoke(input: LLMInput, options?: LLMCallOptions): Promise<ModelResponse<InvokeResult>>;
  /** Answers when the first content is there; until then failures are retried. */
  stream(input: LLMInput, options?: LLMCallOptions): Promise<ModelResponse<StreamResult>>;
  /** The model for the AI SDK and the agent loop, with the same retries. */
  languageModel(): Promise<ModelResponse<LanguageModelV4>>;
  getProviderName(): string;
  /** As the provider calls it; for Azure the deployment. Undefined until the model was first used. */
  getModelName(): string | undefined;
}

export function createLLMClient(options: LLMClientOptions): LLMClient {
  const { config, callbacks = {}, retry, random = Math.random } = options;
  const surroundings = surroundingsWith(options.surroundings);
  const { clock } = surroundings;
  let kept: { readonly key: string; readonly callee: Callee } | undefined;

  const configNow = () => (typeof config === "function" ? config() : config);
  const providerNow = () => configNow().providers?.default ?? DEFAULT_PROVIDER;

  /** The model stays until something of its config changes; failures are not kept. */
  async function getCallee(): Promise<ModelResponse<Callee>> {
    const provider = providerNow();
    const providers: Readonly<Record<string, unknown>> = configNow().providers ?? {};
    const part = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
    const key = JSON.stringify([provider, part]);
    if (kept?.key === key) return successResponse(kept.callee, `${provider} is ready.`);
    const made = await createModel(provider, part, surroundings);
    if (!made.success) return made;
    const callee: Callee = { ...made.result, provider, now: clock.now };
    kept = { key, callee };
    return successResponse(callee, made.message);
  }

  const attempt: Attempt = async (operation, signal) => {
    const rules = retryConfigSchema.safeParse({ ...configNow().retry, ...retry });
    if (!rules.success)
      return failed(errorResponse("PROVIDER_NOT_CONFIGURED", "The config's retry is not valid."));
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

  async function* toChunks(parts: StartedStream["parts"]): AsyncGenerator<StreamChunk, void> {
    for await (const part of parts) {
      if (part.type === "text-delta") {
        tell(() => callbacks.onStreamChunk?.(part.delta));
        yield { type: "text-delta", text: part.delta };
      } else if (part.type === "finish") {
        const usage = extractTokenUsage(part.usage);
        tell(() => callbacks.onStreamEnd?.(usage));
        yield { type: "finish", ...(usage ? { usage } : {}) };
      } else if (part.type === "failure") {
        const { success: _, ...failure } = failed(part.response);
        yield { type: "error", ...failure };
      }
    }
  }

  return {
    invoke: async (input, callOptions) => {
      const response = await attempt(async () => {
        const callee = await getCallee();
        return callee.success ? generateOnce(callee.result, toCall(input, callOptions)) : callee;
      }, callOptions?.signal);
      if (!response.success) return response;
      const { content, usage } = response.result;
      const counted = extractTokenUsage(usage);
      const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
      return successResponse({ content: text, ...(counted ? { usage: counted } : {}) }, response.message);
    },
    stream: async (input, callOptions) => {
      tell(() => callbacks.onStreamStart?.());
      const response = await attempt(async () => {
        const callee = await getCallee();
        return callee.success ? streamOnce(callee.result, toCall(input, callOptions)) : callee;
      }, callOptions?.signal);
      return response.success ? { ...response, result: toChunks(response.result.parts) } : response;
    },
    languageModel: async () => {
      const callee = await getCallee();
      if (!callee.success) return failed(callee);
      return successResponse(createRetryingModel(callee.result, attempt), callee.message);
    },
    getProviderName: providerNow,
    getModelName: () => kept?.callee.model.modelId,
  };
}

function toCall(input: LLMInput, options: LLMCallOptions = {}): LanguageModelV4CallOptions {
  const { maxTokens, temperature, signal } = options;
  return {
    prompt: typeof input === "string" ? [{ role: "user", content: [{ type: "text", text: input }] }] : input,
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(signal ? { abortSignal: signal } : {}),
  };
}

function tell(callback: () => void): void {
  try {
    callback();
  } catch {
    // Whoever listens must not break the call.
  }
}
