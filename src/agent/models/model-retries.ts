import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { Clock } from "../../base/util/clock.ts";
import { toDuration } from "../../base/util/to-duration.ts";
import { sleep } from "../../sources/backoff.ts";
import type { RetryConfig } from "./models-config.ts";
import type { ReadyModel } from "./providers/define-provider.ts";
import {
  asSentence,
  type ModelErrorCode,
  type ModelProblem,
  type ModelProblemDetails,
  modelProblem,
  toModelProblem,
} from "./providers/model-errors.ts";

/** Runs an operation with the client's retries, and reports its failure once. */
export type Attempt = <T>(operation: () => Promise<T>, signal: AbortSignal | undefined) => Promise<T>;

/** The parts of a client that its model needs. */
export interface RetryingModelOptions {
  readonly provider: string;
  readonly attempt: Attempt;
  readonly now: () => number;
  /** Called when a stream breaks after its first content. */
  readonly onError: (problem: ModelProblem) => void;
}

/**
 * A model for the AI SDK with the client's retries; use it with `maxRetries: 0`. The AI SDK's own retries have neither
 * a longest delay, nor jitter, nor a callback, and do not cover a stream that breaks before its first content. Calls
 * throw the reason of an aborted signal, otherwise a {@link ModelProblem}.
 */
export function createRetryingModel(
  { model, secrets, temperature, maxTokens }: ReadyModel,
  { provider, attempt, now, onError }: RetryingModelOptions,
): LanguageModelV4 {
  const toProblem = (error: unknown) => toModelProblem(error, { provider, secrets: secrets(), now: now() });
  const cutOff = () =>
    modelProblem("INVALID_RESPONSE", `${provider}: the stream ended before the answer was complete.`);

  async function call<T>(
    options: LanguageModelV4CallOptions,
    send: (options: LanguageModelV4CallOptions) => Promise<T>,
  ): Promise<T> {
    // The AI SDK passes absent settings as undefined.
    const sent = {
      ...options,
      temperature: options.temperature ?? temperature,
      maxOutputTokens: options.maxOutputTokens ?? maxTokens,
    };
    const once = () =>
      send(sent).catch((error: unknown) => {
        throw toProblem(error);
      });
    return attempt(once, options.abortSignal).catch((error: unknown) => {
      options.abortSignal?.throwIfAborted();
      throw error;
    });
  }

  /** The parts of a whole stream. Throws if it fails or is cut off. */
  async function* readParts(
    stream: ReadableStream<LanguageModelV4StreamPart>,
  ): AsyncGenerator<LanguageModelV4StreamPart, void> {
    for await (const part of stream) {
      if (part.type === "error") throw part.error;
      if (part.type === "finish") {
        if (isCutOff(part)) throw cutOff();
        return yield part;
      }
      // Some providers start with an empty text, which is not content yet.
      if (part.type !== "text-delta" || part.delta !== "") yield part;
    }
    throw cutOff();
  }

  async function* readOn(
    head: readonly LanguageModelV4StreamPart[],
    parts: AsyncGenerator<LanguageModelV4StreamPart, void>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LanguageModelV4StreamPart> {
    try {
      yield* head;
      yield* parts;
    } catch (error) {
      const failure = toProblem(error);
      onError(failure);
      signal?.throwIfAborted();
      yield { type: "error", error: failure };
    } finally {
      await parts.return();
    }
  }

  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => call(options, async (sent) => model.doGenerate(sent)),
    doStream: (options) =>
      call(options, async (sent) => {
        const { stream, ...about } = await model.doStream(sent);
        const parts = readParts(stream);
        const head = await readHead(parts);
        return { ...about, stream: ReadableStream.from(readOn(head, parts, options.abortSignal)) };
      }),
  };
}

/** Parts without content of their own. */
const PREAMBLE = new Set<LanguageModelV4StreamPart["type"]>([
  "stream-start",
  "response-metadata",
  "text-start",
  "reasoning-start",
  "raw",
]);

/** Reads up to the first content: until then nobody has seen anything, so a failure can be retried. */
async function readHead(
  parts: AsyncGenerator<LanguageModelV4StreamPart, void>,
): Promise<LanguageModelV4StreamPart[]> {
  const head: LanguageModelV4StreamPart[] = [];
  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    head.push(next.value);
    if (!PREAMBLE.has(next.value.type)) break;
  }
  return head;
}

/** True if the provider gave no reason for stopping, which the AI SDK reports in one of two ways. */
function isCutOff({ finishReason }: Extract<LanguageModelV4StreamPart, { type: "finish" }>): boolean {
  const { unified, raw } = finishReason;
  return unified === "interrupted" || (unified === "other" && raw === undefined);
}

/** Codes of temporary failures: only these are retried. */
const RETRYABLE_CODES: readonly ModelErrorCode[] = ["RATE_LIMITED", "NETWORK_ERROR", "TIMEOUT"];

/** Describes the retry that is about to happen. */
export interface RetryContext {
  /** Counts retries from 1. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly delayMs: number;
  readonly error: ModelErrorCode;
  readonly message: string;
}

export interface RetryRules {
  readonly config: RetryConfig;
  readonly onRetry: (context: RetryContext) => void;
  /** Ends the wait; the last failure is then the result. */
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
  /** A number from 0 to 1, like Math.random. */
  readonly random: () => number;
}

const JITTER = 0.25;
/** A longer `Retry-After` is waited for only within `overloadMs`; otherwise the failure tells it. */
export const LONGEST_RETRY_AFTER_MS = 60_000;
/** The longest planned delay while a provider is overloaded. */
const LONGEST_OVERLOAD_DELAY_MS = 60_000;

/**
 * Repeats an operation while it throws temporary problems of models, as often as the config allows. An overloaded
 * provider is asked again until all waits together reach `overloadMs`.
 */
export async function repeatFailing<T>(
  operation: () => Promise<T>,
  { config, onRetry, signal, clock, random }: RetryRules,
): Promise<T> {
  const { baseDelayMs, maxDelayMs, enableJitter } = config;
  const maxRetries = config.enabled ? config.maxRetries : 0;
  const patienceMs = config.enabled ? config.overloadMs : 0;
  let waitedMs = 0;
  for (let attempt = 0; ; attempt++) {
    try {
      return await operation();
    } catch (thrown) {
      const { code: error, message, details } = thrown as ModelProblem;
      const { retryAfterMs, isOverload = false, isFinal = false } = details as ModelProblemDetails;
      if (!isRetryableError(error) || isFinal || signal?.aborted) throw thrown;
      const isPatient = isOverload && attempt >= maxRetries;
      const longestMs = isPatient ? Math.max(maxDelayMs, LONGEST_OVERLOAD_DELAY_MS) : maxDelayMs;
      const plannedMs = calculateDelay(attempt, baseDelayMs, longestMs, enableJitter, random);
      // A provider may ask for no wait at all, again and again.
      const delayMs = isPatient ? Math.max(retryAfterMs ?? 0, plannedMs) : (retryAfterMs ?? plannedMs);
      const isInTime = isOverload && waitedMs + delayMs < patienceMs;
      if (delayMs > LONGEST_RETRY_AFTER_MS && retryAfterMs !== undefined && !isInTime)
        throw withWait(thrown as ModelProblem, delayMs, clock.now());
      if (attempt >= maxRetries && !isInTime) throw thrown;
      waitedMs += delayMs;
      onRetry({ attempt: attempt + 1, maxRetries, delayMs, error, message });
      await sleep(delayMs, clock, signal, true);
      if (signal?.aborted) throw thrown;
    }
  }
}

/** Tells how long a provider wants to be left alone, and until when. */
function withWait({ code, message, details }: ModelProblem, ms: number, now: number): ModelProblem {
  const until = new Date(now + ms).toISOString().slice(0, 16).replace("T", " ");
  return modelProblem(
    code,
    `${asSentence(message)} It asks to wait ${toDuration(ms)}, until ${until} UTC.`,
    details,
  );
}

/**
 * Whether a failure is temporary, so that the same call may succeed later. See {@link withRetry}.
 *
 * @example
 * ```ts
 * import { isRetryableError } from "keyhole/models";
 *
 * console.assert(isRetryableError("TIMEOUT") && !isRetryableError("MODEL_NOT_FOUND"));
 * ```
 */
export function isRetryableError(code: ModelErrorCode): boolean {
  return RETRYABLE_CODES.includes(code);
}

/**
 * The delay before a retry: doubles with each attempt (from 0), varies by a quarter at random, and never exceeds the
 * maximum.
 *
 * @example
 * ```ts
 * import { calculateDelay } from "keyhole/models";
 *
 * console.assert(calculateDelay(2, 1_000, 10_000, false) === 4_000);
 * ```
 */
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
