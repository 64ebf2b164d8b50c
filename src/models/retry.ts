import type { RetryConfig } from "../schema/models-config.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { sleep } from "../util/sleep.ts";
import type { ModelErrorCode, ModelResponse } from "./model-response.ts";

/** Codes of failures that pass: only these are tried again. */
export const RETRYABLE_CODES = ["RATE_LIMITED", "NETWORK_ERROR", "TIMEOUT"] as const;

/** What is known before another attempt. */
export interface RetryContext {
  /** Of the retry, from 1. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly delayMs: number;
  readonly error: ModelErrorCode;
  readonly message: string;
}

export interface RetryOptions {
  readonly config: RetryConfig;
  readonly onRetry?: (context: RetryContext) => void;
  /** Ends the waiting; the last failure is then the answer. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** From 0 to 1, as Math.random gives it. */
  readonly random?: () => number;
}

const JITTER = 0.25;
/** Whoever is asked to wait longer than this is told so instead, with `retryAfterMs`. */
export const LONGEST_RETRY_AFTER_MS = 60_000;

/** Does it again while it fails in a way that passes, as the config allows. */
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

export function isRetryableError(code: ModelErrorCode): boolean {
  return (RETRYABLE_CODES as readonly ModelErrorCode[]).includes(code);
}

/** Twice as long with each attempt (from 0), a quarter more or less by chance, never over the maximum. */
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
