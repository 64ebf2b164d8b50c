import { AsyncLocalStorage } from "node:async_hooks";
import type { AgentEvent, SpanContext } from "./agent-event.ts";
import type { Ask } from "./ask-request.ts";

/** An event without its span. */
export type Untraced = AgentEvent extends infer E ? (E extends AgentEvent ? Omit<E, "span"> : never) : never;

/** The current run, and its current tool call if there is one. */
export interface RunContext {
  emit(event: Untraced, span?: SpanContext): void;
  readonly ask?: Ask;
  readonly signal: AbortSignal;
  readonly call?: { readonly callId: string; readonly span: SpanContext };
}

/** Carries the run through tools and models that do not know about agents. */
export const runContext = new AsyncLocalStorage<RunContext>();

/**
 * Emits `llm-retry` in the current {@link run}. Call it from `onRetry` of a model client.
 *
 * @example
 * ```ts
 * import { tellRetry } from "keyhole/agent";
 * import { createLLMClient } from "keyhole/models";
 *
 * createLLMClient({
 *   config: { providers: { default: "local", local: { model: "phi4" } } },
 *   callbacks: { onRetry: ({ attempt, delayMs, message }) => tellRetry({ attempt, delayMs, reason: message }) },
 * });
 * ```
 */
export function tellRetry(retry: {
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}): void {
  const { attempt, delayMs, reason } = retry;
  runContext.getStore()?.emit({ type: "llm-retry", attempt, delayMs, reason });
}
