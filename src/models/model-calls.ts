import type {
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import { createRedact } from "../util/redact.ts";
import type { ReadyModel } from "./providers/define-provider.ts";
import {
  errorResponse,
  type ModelErrorResponse,
  type ModelResponse,
  successResponse,
} from "./providers/model-response.ts";
import { toErrorResponse } from "./to-error-response.ts";

/** A model with the data that its failures are reported with. */
export interface Callee extends ReadyModel {
  readonly provider: string;
  readonly now: () => number;
}

/** A part of a stream. A failure is a part too, and always the last. */
export type SafePart =
  | Exclude<LanguageModelV4StreamPart, { type: "error" }>
  | { readonly type: "failure"; readonly response: ModelErrorResponse };

export interface StartedStream extends Omit<LanguageModelV4StreamResult, "stream"> {
  /** Never throws. To stop reading cancels the request. */
  readonly parts: AsyncGenerator<SafePart, void>;
}

/** Makes one attempt at a whole answer. */
export async function generateOnce(
  callee: Callee,
  options: LanguageModelV4CallOptions,
): Promise<ModelResponse<LanguageModelV4GenerateResult>> {
  try {
    const result = await callee.model.doGenerate(withDefaults(callee, options));
    return successResponse(result, `${callee.provider} answered.`);
  } catch (error) {
    return failureOf(callee, error);
  }
}

/** Starts a stream and waits for its first content: until then nobody has seen anything, so it can be retried. */
export async function streamOnce(
  callee: Callee,
  options: LanguageModelV4CallOptions,
): Promise<ModelResponse<StartedStream>> {
  try {
    const { stream, ...about } = await callee.model.doStream(withDefaults(callee, options));
    const parts = readSafely(callee, stream);
    const head: SafePart[] = [];
    for (let isContent = false; !isContent; ) {
      const next = await parts.next();
      if (next.done) break;
      if (next.value.type === "failure") return next.value.response;
      head.push(next.value);
      isContent = !PREAMBLE.has(next.value.type);
    }
    return successResponse({ ...about, parts: joined(head, parts) }, `${callee.provider} is answering.`);
  } catch (error) {
    return failureOf(callee, error);
  }
}

/** Parts without content of their own. */
const PREAMBLE = new Set<SafePart["type"]>([
  "stream-start",
  "response-metadata",
  "text-start",
  "reasoning-start",
  "raw",
]);

async function* readSafely(
  callee: Callee,
  stream: ReadableStream<LanguageModelV4StreamPart>,
): AsyncGenerator<SafePart, void> {
  try {
    for await (const part of stream) {
      if (part.type === "error") return yield { type: "failure", response: failureOf(callee, part.error) };
      if (part.type === "finish") return yield isCutOff(part) ? cutOff(callee) : part;
      // Some providers start with an empty text, which is not content yet.
      if (part.type !== "text-delta" || part.delta !== "") yield part;
    }
  } catch (error) {
    return yield { type: "failure", response: failureOf(callee, error) };
  }
  yield cutOff(callee);
}

/** True if the provider gave no reason for stopping, which the AI SDK reports in one of two ways. */
function isCutOff({ finishReason }: Extract<LanguageModelV4StreamPart, { type: "finish" }>): boolean {
  const { unified, raw } = finishReason;
  return unified === "interrupted" || (unified === "other" && raw === undefined);
}

function cutOff({ provider }: Callee): SafePart {
  const message = `${provider}: the stream ended before the answer was complete.`;
  return { type: "failure", response: errorResponse("INVALID_RESPONSE", message) };
}

async function* joined(
  head: readonly SafePart[],
  rest: AsyncGenerator<SafePart, void>,
): AsyncGenerator<SafePart, void> {
  try {
    yield* head;
    yield* rest;
  } finally {
    await rest.return();
  }
}

function withDefaults(
  { temperature }: Callee,
  options: LanguageModelV4CallOptions,
): LanguageModelV4CallOptions {
  // The AI SDK passes absent settings as undefined.
  const chosen = options.temperature ?? temperature;
  return chosen === undefined ? options : { ...options, temperature: chosen };
}

function failureOf({ provider, secrets, now }: Callee, error: unknown): ModelErrorResponse {
  return toErrorResponse(error, { provider, redact: createRedact(secrets()), now: now() });
}
