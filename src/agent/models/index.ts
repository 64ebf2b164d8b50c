export { createLLMClient, type LLMCallbacks, type LLMClient, type LLMClientOptions } from "./llm-client.ts";
export type { ModelsConfig, RetryConfig } from "./models-config.ts";
export type { ModelResponse } from "./providers/model-errors.ts";
export type { ProviderConfig, ProviderName } from "./providers/providers.ts";
