import type { LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { ModelsConfig, RetryConfig } from "../schema/models-config.ts";
import type { ModelErrorCode, ModelErrorResponse, ModelResponse } from "./model-response.ts";
import type { Surroundings } from "./provider.ts";
import type { RetryContext } from "./retry.ts";
import type { TokenUsage } from "./token-usage.ts";

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
  /** As the config has it or by default; for Azure the deployment. Undefined if none is configured. */
  getModelName(): string | undefined;
}
