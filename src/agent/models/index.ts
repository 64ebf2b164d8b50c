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
export { extractTokenUsage } from "./model-answer.ts";
export type { ProviderFactory, RetryOptions } from "./model-helpers.ts";
export {
  errorResponse,
  extractRetryAfter,
  getProviderFactory,
  isModelError,
  isModelSuccess,
  successResponse,
  withRetry,
} from "./model-helpers.ts";
export type { RetryContext } from "./model-retries.ts";
export { calculateDelay, isRetryableError } from "./model-retries.ts";
export type { ModelsConfig, RetryConfig } from "./models-config.ts";
export type {
  ModelErrorCode,
  ModelErrorResponse,
  ModelResponse,
  ModelSuccessResponse,
} from "./providers/model-errors.ts";
export { mapErrorToCode } from "./providers/model-errors.ts";
export type { ProviderConfig, ProviderName } from "./providers/providers.ts";
export { getSupportedProviders, isProviderSupported } from "./providers/providers.ts";
