import type { AgentEvent, SpanContext, TokenUse } from "./agent-event.ts";
import type { Ask, AskRequest } from "./ask.ts";

type EndOf = Extract<AgentEvent, { type: "agent-end" }>;
type ToolEndOf = Extract<AgentEvent, { type: "tool-end" }>;

/** What an application may be told as it happens, each with its place in the trace. What they throw is ignored. */
export interface AgentCallbacks {
  onAgentStart?(span: SpanContext, query: string): void;
  onLLMStart?(span: SpanContext, model: string, messages: readonly unknown[]): void;
  onLLMStream?(span: SpanContext, chunk: string): void;
  onLLMEnd?(span: SpanContext, response: string, usage: TokenUse): void;
  onToolStart?(span: SpanContext, toolName: string, args: unknown): void;
  onToolEnd?(
    span: SpanContext,
    toolName: string,
    result: Pick<ToolEndOf, "ok" | "text" | "ms" | "diff">,
  ): void;
  onAgentEnd?(span: SpanContext, answer: string, end: Omit<EndOf, "span" | "type" | "text">): void;
  /** Between a request to the model or a tool and what comes back. */
  onSpinnerStart?(span: SpanContext, message: string): void;
  onSpinnerStop?(span: SpanContext): void;
  /** Decides on what needs a permission: give `askBy(callbacks)` to the run. */
  onPermissionRequest?(
    span: SpanContext,
    request: Omit<AskRequest, "span" | "callId">,
  ): boolean | Promise<boolean>;
}

/** The same events, with the callbacks called as they pass. */
export async function* withCallbacks(
  events: AsyncIterable<AgentEvent>,
  callbacks: AgentCallbacks,
): AsyncGenerator<AgentEvent, void> {
  for await (const event of events) {
    try {
      tell(event, callbacks);
    } catch {
      // Whoever listens does not stop what it listens to.
    }
    yield event;
  }
}

/** Asks by a callback: what it answers is for this one time. */
export function askBy({ onPermissionRequest }: AgentCallbacks): Ask {
  return async ({ span, callId: _, ...request }) =>
    (await onPermissionRequest?.(span, request)) === true ? "once" : "deny";
}

function tell(event: AgentEvent, callbacks: AgentCallbacks): void {
  const { span } = event;
  switch (event.type) {
    case "agent-start":
      callbacks.onAgentStart?.(span, event.prompt);
      break;
    case "llm-start":
      callbacks.onLLMStart?.(span, event.model, event.messages ?? []);
      callbacks.onSpinnerStart?.(span, event.model);
      break;
    case "llm-text":
      callbacks.onLLMStream?.(span, event.text);
      break;
    case "llm-end":
      callbacks.onSpinnerStop?.(span);
      callbacks.onLLMEnd?.(span, event.text, event.usage);
      break;
    case "tool-start":
      callbacks.onToolStart?.(span, event.tool, event.args);
      callbacks.onSpinnerStart?.(span, event.tool);
      break;
    case "tool-end": {
      const { tool, span: _, type: __, callId: ___, ...result } = event;
      callbacks.onSpinnerStop?.(span);
      callbacks.onToolEnd?.(span, tool, result);
      break;
    }
    case "agent-end": {
      const { text, span: _, type: __, ...end } = event;
      callbacks.onAgentEnd?.(span, text, end);
      break;
    }
  }
}
