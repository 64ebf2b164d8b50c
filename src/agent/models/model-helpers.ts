import type { LanguageModelV4 } from "@ai-sdk/provider";
import { systemClock } from "../../base/util/clock.ts";
import { createModel } from "./create-model.ts";
import { type RetryContext, repeatFailing } from "./model-retries.ts";
import { type RetryConfig, retryConfigSchema } from "./models-config.ts";
import { createHost } from "./providers/define-provider.ts";
import {
  type ModelErrorCode,
  type ModelErrorResponse,
  type ModelProblem,
  type ModelResponse,
  type ModelSuccessResponse,
  modelProblem,
  retryAfterOfError,
  toErrorResponse,
} from "./providers/model-errors.ts";
import { isProviderSupported, type ProviderName } from "./providers/providers.ts";

/** Makes the model of a provider from its part of the config. Failures are a {@link ModelResponse} too. */
export type ProviderFactory = (config?: unknown) => Promise<ModelResponse<LanguageModelV4>>;

/** Options of {@link withRetry}: those of the config's `retry`, and who is told of each retry. */
export interface RetryOptions extends Partial<RetryConfig> {
  readonly onRetry?: (context: RetryContext) => void;
  /** Ends the wait; the last failure is then the result. */
  readonly signal?: AbortSignal;
}

/**
 * Whether a call of a model succeeded. See {@link isModelError}.
 *
 * @example
 * ```ts
 * import { isModelSuccess, successResponse } from "keyhole/models";
 *
 * console.assert(isModelSuccess(successResponse("Bern", "answered")));
 * ```
 */
export function isModelSuccess<T>(response: ModelResponse<T>): response is ModelSuccessResponse<T> {
  return response.success;
}

/**
 * Whether a call of a model failed. See {@link isModelSuccess}.
 *
 * @example
 * ```ts
 * import { errorResponse, isModelError } from "keyhole/models";
 *
 * console.assert(isModelError(errorResponse("TIMEOUT", "too slow")));
 * ```
 */
export function isModelError<T>(response: ModelResponse<T>): response is ModelErrorResponse {
  return !response.success;
}

/**
 * Creates the response of a call that succeeded. See {@link errorResponse}.
 *
 * @example
 * ```ts
 * import { successResponse } from "keyhole/models";
 *
 * console.assert(successResponse("Bern", "answered").result === "Bern");
 * ```
 */
export function successResponse<T>(result: T, message: string): ModelSuccessResponse<T> {
  return { success: true, result, message };
}

/**
 * Creates the response of a call that failed. See {@link successResponse}.
 *
 * @example
 * ```ts
 * import { errorResponse } from "keyhole/models";
 *
 * console.assert(errorResponse("RATE_LIMITED", "busy", 500).retryAfterMs === 500);
 * ```
 */
export function errorResponse(
  error: ModelErrorCode,
  message: string,
  retryAfterMs?: number,
): ModelErrorResponse {
  return { success: false, error, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/**
 * Repeats an operation while its response is a temporary failure ({@link isRetryableError}): with growing delays, or
 * after the wait that the provider asks for.
 *
 * @example
 * ```ts
 * import { errorResponse, isModelSuccess, successResponse, withRetry } from "keyhole/models";
 *
 * let calls = 0;
 * const response = await withRetry(
 *   async () => (++calls < 3 ? errorResponse("RATE_LIMITED", "busy", 0) : successResponse("Bern", "answered")),
 *   { maxRetries: 3 },
 * );
 * console.assert(isModelSuccess(response) && response.result === "Bern");
 * ```
 */
export async function withRetry<T>(
  operation: () => Promise<ModelResponse<T>>,
  { onRetry = () => {}, signal, ...rules }: RetryOptions = {},
): Promise<ModelResponse<T>> {
  const attempt = async () => {
    const response = await operation();
    if (response.success) return response;
    const { error, message, retryAfterMs } = response;
    throw modelProblem(error, message, retryAfterMs === undefined ? {} : { retryAfterMs });
  };
  const config = retryConfigSchema.parse(rules);
  try {
    return await repeatFailing(attempt, { config, onRetry, signal, clock: systemClock, random: Math.random });
  } catch (error) {
    return toErrorResponse(error as ModelProblem);
  }
}

/**
 * The wait in milliseconds that a provider asks for in an error: by a header, or in seconds by `retryAfter`.
 *
 * @example
 * ```ts
 * import { extractRetryAfter } from "keyhole/models";
 *
 * console.assert(extractRetryAfter({ retryAfter: 30 }) === 30_000);
 * ```
 */
export function extractRetryAfter(error: unknown): number | undefined {
  return retryAfterOfError(error, Date.now());
}

/**
 * The factory of a provider. Undefined if Keyhole has none of that name. See {@link getSupportedProviders}.
 *
 * @example
 * ```ts
 * import { getProviderFactory, isModelSuccess } from "keyhole/models";
 *
 * const made = await getProviderFactory("openai")?.({ apiKey: "a key", model: "gpt-4o-mini" });
 * console.assert(made && isModelSuccess(made));
 * ```
 */
export function getProviderFactory(name: string): ProviderFactory | undefined {
  return isProviderSupported(name) ? toFactory(name) : undefined;
}

function toFactory(name: ProviderName): ProviderFactory {
  return async (config) => {
    try {
      const { model } = await createModel(name, config, createHost());
      return successResponse(model, `${name} is ready.`);
    } catch (error) {
      return toErrorResponse(error as ModelProblem);
    }
  };
}
