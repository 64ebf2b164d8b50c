export type {
  InvokeOptions,
  InvokeResult,
  LLMCallbacks,
  LLMCallOptions,
  LLMClient,
  LLMClientOptions,
  LLMInput,
  StreamResult,
} from "./llm-client.ts";
export { createLLMClient } from "./llm-client.ts";
export type { OutputSchema, TokenUsage } from "./model-answer.ts";
export type { RetryContext } from "./model-retries.ts";
export type { ModelsConfig, RetryConfig } from "./models-config.ts";
export type { ModelErrorCode, ModelResponse } from "./providers/model-errors.ts";
export type { ProviderConfig, ProviderName } from "./providers/providers.ts";
