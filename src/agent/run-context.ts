import { AsyncLocalStorage } from "node:async_hooks";
import type { AgentEvent, SpanContext } from "./agent-event.ts";
import type { Ask } from "./ask.ts";

/** An event before it has its place in the trace. */
export type Untraced = AgentEvent extends infer E ? (E extends AgentEvent ? Omit<E, "span"> : never) : never;

/** The run that code is called by, and the tool call where it is one. */
export interface RunContext {
  emit(event: Untraced, span?: SpanContext): void;
  readonly ask?: Ask;
  readonly signal: AbortSignal;
  readonly call?: { readonly callId: string; readonly span: SpanContext };
}

/** Follows calls through tools and models that know nothing of agents. */
export const runContext = new AsyncLocalStorage<RunContext>();

/** Tells the run under way that its model is tried again: for the callbacks of a model client. */
export function tellRetry(retry: {
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}): void {
  const { attempt, delayMs, reason } = retry;
  runContext.getStore()?.emit({ type: "llm-retry", attempt, delayMs, reason });
}
