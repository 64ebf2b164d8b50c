export { createLLMClient } from "./llm-client.ts";
export type {
  InvokeResult,
  LLMCallbacks,
  LLMCallOptions,
  LLMClient,
  LLMClientOptions,
  LLMInput,
  StreamChunk,
  StreamResult,
} from "./llm-client-api.ts";
export { mapErrorToCode } from "./map-error-to-code.ts";
export type { ModelsConfig, RetryConfig } from "./models-config.ts";
export { DEFAULT_PROVIDER, providersConfigSchema, retryConfigSchema } from "./models-config.ts";
export type {
  ModelErrorCode,
  ModelErrorResponse,
  ModelResponse,
  ModelSuccessResponse,
} from "./providers/model-response.ts";
export { isModelError, isModelSuccess } from "./providers/model-response.ts";
export type { ProviderHost, RunCommand } from "./providers/provider-host.ts";
export type { ProviderConfig, ProviderName } from "./providers/providers.ts";
export { getSupportedProviders, isProviderSupported } from "./providers/providers.ts";
export type { RetryContext, RetryOptions } from "./retry.ts";
export { isRetryableError, withRetry } from "./retry.ts";
export type { TokenUsage } from "./token-usage.ts";
