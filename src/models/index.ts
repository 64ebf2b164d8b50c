export type { ModelsConfig, ProviderConfig, ProviderName, RetryConfig } from "../schema/models-config.ts";
export {
  DEFAULT_PROVIDER,
  PROVIDER_SCHEMAS,
  providersConfigSchema,
  retryConfigSchema,
} from "../schema/models-config.ts";
export { getSupportedProviders, isProviderSupported } from "./create-model.ts";
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
export { LOCAL_PRESETS } from "./model-names.ts";
export type {
  ModelErrorCode,
  ModelErrorResponse,
  ModelResponse,
  ModelSuccessResponse,
} from "./model-response.ts";
export { errorResponse, isModelError, isModelSuccess, successResponse } from "./model-response.ts";
export type { Surroundings } from "./provider.ts";
export type { RetryContext, RetryOptions } from "./retry.ts";
export { calculateDelay, isRetryableError, withRetry } from "./retry.ts";
export { extractRetryAfter } from "./retry-after.ts";
export type { RunCommand } from "./run-command.ts";
export type { TokenUsage } from "./token-usage.ts";
export { extractTokenUsage } from "./token-usage.ts";
