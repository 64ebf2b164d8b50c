import { type Clock, systemClock } from "../util/clock.ts";
import { sleep } from "../util/sleep.ts";
import type { RetryConfig } from "./models-config.ts";
import type { ModelErrorCode, ModelResponse } from "./providers/model-response.ts";

/** Codes of temporary failures: only these are retried. */
export const RETRYABLE_CODES = ["RATE_LIMITED", "NETWORK_ERROR", "TIMEOUT"] as const;

/** Describes the retry that is about to happen. */
export interface RetryContext {
  /** Counts retries from 1. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly delayMs: number;
  readonly error: ModelErrorCode;
  readonly message: string;
}

/** Options of {@link withRetry}. */
export interface RetryOptions {
  readonly config: RetryConfig;
  readonly onRetry?: (context: RetryContext) => void;
  /** Ends the wait; the last failure is then the result. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** A number from 0 to 1, like Math.random. */
  readonly random?: () => number;
}

const JITTER = 0.25;
/** A longer `Retry-After` is not waited for; the failure is returned with `retryAfterMs`. */
export const LONGEST_RETRY_AFTER_MS = 60_000;

/** Repeats an operation while it fails temporarily, as often as the config allows. */
export async function withRetry<T>(
  operation: () => Promise<ModelResponse<T>>,
  { config, onRetry, signal, clock = systemClock, random = Math.random }: RetryOptions,
): Promise<ModelResponse<T>> {
  const maxRetries = config.enabled ? config.maxRetries : 0;
  for (let attempt = 0; ; attempt++) {
    const response = await operation();
    if (response.success || !isRetryableError(response.error) || attempt >= maxRetries) return response;
    const { error, message, retryAfterMs } = response;
    if (retryAfterMs !== undefined && retryAfterMs > LONGEST_RETRY_AFTER_MS) return response;
    const { baseDelayMs, maxDelayMs, enableJitter } = config;
    const delayMs = retryAfterMs ?? calculateDelay(attempt, baseDelayMs, maxDelayMs, enableJitter, random);
    if (signal?.aborted) return response;
    onRetry?.({ attempt: attempt + 1, maxRetries, delayMs, error, message });
    await sleep(delayMs, clock, signal, true);
    if (signal?.aborted) return response;
  }
}

/** Whether a failure of that code is temporary. */
export function isRetryableError(code: ModelErrorCode): boolean {
  return (RETRYABLE_CODES as readonly ModelErrorCode[]).includes(code);
}

/** Doubles with each attempt (from 0), varies by a quarter at random, and never exceeds the maximum. */
export function calculateDelay(
  attempt: number,
  baseDelayMs: number,
  maxDelayMs: number,
  enableJitter: boolean,
  random: () => number = Math.random,
): number {
  const planned = Math.min(baseDelayMs * 2 ** attempt, maxDelayMs);
  if (!enableJitter) return planned;
  return Math.min(Math.round(planned * (1 + (random() * 2 - 1) * JITTER)), maxDelayMs);
}
