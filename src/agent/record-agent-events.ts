import type { Attributes, FinishedSpan } from "../telemetry/otel/otlp.ts";
import type { Recorder } from "../telemetry/otel/otlp-exporter.ts";
import type { AgentEvent } from "./agent-event.ts";

export interface AgentRecording {
  /** `gen_ai.provider.name` by OpenTelemetry's conventions. */
  readonly provider: string;
  /** Also sends prompts, arguments and answers. */
  readonly arguments: boolean;
}

const MAX_OPEN = 1_000;

interface Open {
  readonly span: Omit<FinishedSpan, "durationMs" | "events"> & { readonly events: object[] };
  readonly started: number;
}

/** Creates a listener that records an agent's events as spans and metrics. */
export function recordAgentEvents(
  recorder: Recorder,
  { provider, arguments: withValues }: AgentRecording,
): (event: AgentEvent) => void {
  const open = new Map<string, Open>();

  function begin(
    { span: context }: AgentEvent,
    name: string,
    kind: "internal" | "client",
    attributes: Attributes,
  ) {
    if (open.size >= MAX_OPEN) return;
    const span = { context, name, kind, startedAt: Date.now(), attributes, events: [] };
    open.set(context.spanId, { span, started: performance.now() });
  }

  function end(
    spanId: string,
    attributes: Attributes,
    error?: string,
  ): { seconds: number; attributes: Attributes } | undefined {
    const begun = open.get(spanId);
    if (!begun) return undefined;
    open.delete(spanId);
    const { events, ...span } = begun.span;
    const durationMs = performance.now() - begun.started;
    recorder.span({
      ...span,
      durationMs,
      attributes: { ...span.attributes, ...attributes },
      ...(events.length > 0 && { events: events as NonNullable<FinishedSpan["events"]> }),
      ...(error !== undefined && { error }),
    });
    return { seconds: durationMs / 1000, attributes: span.attributes };
  }

  const note = (event: AgentEvent, attributes: Attributes) =>
    open.get(event.span.spanId)?.span.events.push({ name: event.type, at: Date.now(), attributes });

  return (event) => {
    switch (event.type) {
      case "agent-start":
        return begin(event, "invoke_agent keyhole", "internal", {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": "keyhole",
          "gen_ai.provider.name": provider,
          "gen_ai.conversation.id": event.session,
          ...(withValues && { "gen_ai.input.messages": message("user", event.prompt) }),
        });
      case "llm-start":
        return begin(event, `chat ${event.model}`, "client", {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": provider,
          "gen_ai.request.model": event.model,
        });
      case "llm-retry":
        note(event, { "keyhole.retry.attempt": event.attempt, "keyhole.retry.delay_ms": event.delayMs });
        return;
      case "llm-end": {
        const ended = end(event.span.spanId, {
          ...usageOf(event.usage),
          ...(withValues && { "gen_ai.output.messages": message("assistant", event.text) }),
        });
        if (!ended) return;
        const { seconds, attributes } = ended;
        recorder.metric("gen_ai.client.operation.duration", seconds, attributes);
        for (const type of ["input", "output"] as const) {
          const labels = { ...attributes, "gen_ai.token.type": type };
          recorder.metric("gen_ai.client.token.usage", event.usage[type], labels);
        }
        return;
      }
      case "tool-start":
        return begin(event, `execute_tool ${event.tool}`, "internal", {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": event.tool,
          "gen_ai.tool.type": "function",
          "gen_ai.tool.call.id": event.callId,
          ...(withValues && { "gen_ai.tool.call.arguments": asText(event.args) }),
        });
      case "permission-request":
        note(event, { "keyhole.permission.scope": event.scope });
        return;
      case "permission-answer":
        note(event, { "keyhole.permission.answer": event.answer });
        return;
      case "tool-end":
        end(
          event.span.spanId,
          withValues ? { "gen_ai.tool.call.result": event.text } : {},
          event.ok ? undefined : "tool_error",
        );
        return;
      case "agent-end": {
        // Spans that a cancelled or failed run left open get no end event of their own.
        for (const [spanId, { span }] of open) {
          const isOther = span.context.traceId !== event.span.traceId || spanId === event.span.spanId;
          if (!isOther) end(spanId, {}, event.outcome);
        }
        const error = event.outcome === "answered" ? undefined : (event.error?.code ?? event.outcome);
        end(
          event.span.spanId,
          {
            ...usageOf(event.usage),
            "keyhole.agent.outcome": event.outcome,
            "keyhole.agent.steps": event.steps,
            ...(withValues && { "gen_ai.output.messages": message("assistant", event.text) }),
          },
          error,
        );
      }
    }
  };
}

function usageOf({ input, output, cached }: { input: number; output: number; cached: number }): Attributes {
  return {
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
    "gen_ai.usage.cache_read.input_tokens": cached,
  };
}

function message(role: string, content: string): string {
  return JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
}

function asText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}
