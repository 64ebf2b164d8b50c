import type { LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { FinishReason } from "./finish-reason.ts";
import type { ModelsConfig, RetryConfig } from "./models-config.ts";
import type { ModelErrorCode, ModelErrorResponse, ModelResponse } from "./providers/model-response.ts";
import type { ProviderHost } from "./providers/provider-host.ts";
import type { RetryContext } from "./retry.ts";
import type { OutputSchema } from "./structured-output.ts";
import type { TokenUsage } from "./token-usage.ts";

/** Called as things happen. Errors they throw are ignored. */
export interface LLMCallbacks {
  /** Once for each stream, before the first attempt. */
  readonly onStreamStart?: () => void;
  /** For each piece of text. */
  readonly onStreamChunk?: (chunk: string) => void;
  /** When a stream has ended well. */
  readonly onStreamEnd?: (usage?: TokenUsage) => void;
  /** Once for each failed call, after its retries. */
  readonly onError?: (error: ModelErrorCode, message: string) => void;
  /** Before the wait that precedes each retry. */
  readonly onRetry?: (context: RetryContext) => void;
}

/** Options of {@link createLLMClient}. */
export interface LLMClientOptions {
  /** The config, or a function that is called with each call so that changes take effect. */
  readonly config: ModelsConfig | (() => ModelsConfig);
  readonly callbacks?: LLMCallbacks;
  /** Overrides the config's `retry`. */
  readonly retry?: Partial<RetryConfig>;
  /** The source of jitter, for tests. */
  readonly random?: () => number;
  /** Replaces parts of the machine around a provider, for tests. */
  readonly host?: Partial<ProviderHost>;
}

/** One user message as text, or messages in the format of the AI SDK's models. */
export type LLMInput = string | LanguageModelV4Prompt;

/** Options of one call. */
export interface LLMCallOptions {
  /** Most tokens of the answer. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly signal?: AbortSignal;
}

/** A whole answer. */
export interface InvokeResult<T = unknown> {
  readonly content: string;
  readonly finishReason: FinishReason;
  readonly usage?: TokenUsage;
  /** The answer as the requested `output`, if it fits. */
  readonly output?: T;
  /** Why the answer does not fit the requested `output`. The text is in `content`. */
  readonly mismatch?: string;
}

/** A piece of a stream. The last one is `finish` or `error`; a stream does not throw. */
export type StreamChunk =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "finish"; readonly finishReason: FinishReason; readonly usage?: TokenUsage }
  | ({ readonly type: "error" } & Omit<ModelErrorResponse, "success">);

/** The pieces of a stream, in order. To stop reading cancels the request. */
export type StreamResult = AsyncIterable<StreamChunk>;

/** Calls the model that a config names. No method throws. */
export interface LLMClient {
  /** Returns the whole answer. With `output` the model answers with JSON of that shape. */
  invoke<T = unknown>(
    input: LLMInput,
    options?: LLMCallOptions & { readonly output?: OutputSchema<T> },
  ): Promise<ModelResponse<InvokeResult<T>>>;
  /** Resolves when the first content arrives. Failures before that are retried. */
  stream(input: LLMInput, options?: LLMCallOptions): Promise<ModelResponse<StreamResult>>;
  /** The model for the AI SDK and the agent, with the same retries. */
  languageModel(): Promise<ModelResponse<LanguageModelV4>>;
  getProviderName(): string;
  /** The address of the provider's server; undefined if it is not known or the config is invalid. */
  getServerUrl(): string | undefined;
  /** The model or deployment that the config names, or the default; undefined if the config is invalid. */
  getModelName(): string | undefined;
}
