import type { ModelMessage } from "ai";
import type { Attributes, FinishedSpan } from "../../core/telemetry/otlp.ts";
import type { Recorder } from "../../core/telemetry/otlp-exporter.ts";
import { serverAttributes } from "../../core/telemetry/record-events.ts";
import type { AgentEvent, AgentOutcome } from "./agent-event.ts";

export interface AgentRecording {
  /** `gen_ai.provider.name` by OpenTelemetry's conventions. */
  readonly provider: string;
  readonly server?: string | undefined;
  /** Also sends prompts, arguments and answers. */
  readonly arguments: boolean;
}

const MAX_OPEN = 1_000;

/** Codes of runs that ended without an error of their own. */
const CODES: Readonly<Record<Exclude<AgentOutcome, "answered">, string>> = {
  "cut-off": "ANSWER_CUT_OFF",
  filtered: "ANSWER_FILTERED",
  cancelled: "CANCELLED",
  "step-limit": "LIMIT_EXCEEDED",
  "token-limit": "LIMIT_EXCEEDED",
  repeating: "LIMIT_EXCEEDED",
  failed: "INTERNAL",
};

/** Finish reasons as the conventions spell them. */
const FINISHES: Readonly<Record<string, string>> = {
  "content-filter": "content_filter",
  "tool-calls": "tool_call",
};

interface Open {
  readonly span: Omit<FinishedSpan, "durationMs" | "events"> & { readonly events: object[] };
  readonly started: number;
}

/** Creates a listener that records an agent's events as spans and metrics. */
export function recordAgentEvents(
  recorder: Recorder,
  { provider, server, arguments: withValues }: AgentRecording,
): (event: AgentEvent) => void {
  const spans = new OpenSpans(recorder);
  const address = serverAttributes(server);
  const records: EventRecords = {
    "agent-start": (event) => {
      spans.beginRun(event);
      spans.begin(event, "invoke_agent keyhole", "internal", {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "keyhole",
        "gen_ai.provider.name": provider,
        ...(withValues && { "gen_ai.input.messages": message("user", event.prompt) }),
      });
    },
    "llm-start": (event) =>
      spans.begin(event, `chat ${event.model}`, "client", {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": event.model,
        "gen_ai.request.temperature": event.temperature,
        "gen_ai.request.max_tokens": event.maxTokens,
        ...address,
        ...(withValues && { "gen_ai.input.messages": asText(toMessageParts(event.messages ?? [])) }),
      }),
    "llm-retry": (event) =>
      spans.note(event, { "keyhole.retry.attempt": event.attempt, "keyhole.retry.delay_ms": event.delayMs }),
    "llm-end": (event) => {
      const finish = FINISHES[event.finish] ?? event.finish;
      const output = withValues && asText(toAnswerParts(event.text, event.calls ?? [], finish));
      const ended = spans.end(event.span.spanId, {
        ...usageOf(event.usage),
        "gen_ai.response.model": event.model,
        "gen_ai.response.finish_reasons": [finish],
        ...(output && { "gen_ai.output.messages": output }),
      });
      if (!ended) return;
      const labels = { ...labelsOf(ended.attributes), "gen_ai.response.model": event.model };
      recorder.metric("gen_ai.client.operation.duration", ended.seconds, labels);
      for (const type of ["input", "output"] as const) {
        const typed = { ...labels, "gen_ai.token.type": type };
        recorder.metric("gen_ai.client.token.usage", event.usage[type], typed);
      }
    },
    "tool-start": (event) =>
      spans.begin(event, `execute_tool ${event.tool}`, "internal", {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": event.tool,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": event.callId,
        ...(withValues && { "gen_ai.tool.call.arguments": asText(event.args) }),
      }),
    "permission-request": (event) => spans.note(event, { "keyhole.permission.scope": event.scope }),
    "permission-answer": (event) => spans.note(event, { "keyhole.permission.answer": event.answer }),
    "tool-end": ({ span, ok, text, error = "INTERNAL" }) =>
      spans.end(span.spanId, withValues ? { "gen_ai.tool.call.result": text } : {}, ok ? undefined : error),
    "agent-end": (event) => spans.endRun(event, withValues),
  };
  return (event) => void records[event.type]?.(event as never);
}

/** The spans of runs, model requests and tool calls that have not ended. */
class OpenSpans {
  readonly #recorder: Recorder;
  readonly #open = new Map<string, Open>();
  /** The conversation of each run, by its trace. */
  readonly #conversations = new Map<string, string>();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  beginRun({ span, session }: Extract<AgentEvent, { type: "agent-start" }>): void {
    // Runs whose end nobody saw.
    if (this.#conversations.size >= MAX_OPEN) this.#conversations.clear();
    this.#conversations.set(span.traceId, session);
  }

  begin({ span: context }: AgentEvent, name: string, kind: "internal" | "client", attributes: Attributes) {
    if (this.#open.size >= MAX_OPEN) return;
    const conversation = { "gen_ai.conversation.id": this.#conversations.get(context.traceId) };
    const all = { ...attributes, ...conversation };
    const span = { context, name, kind, startedAt: Date.now(), attributes: all, events: [] };
    this.#open.set(context.spanId, { span, started: performance.now() });
  }

  end(
    spanId: string,
    attributes: Attributes,
    error?: string,
  ): { seconds: number; attributes: Attributes } | undefined {
    const begun = this.#open.get(spanId);
    if (!begun) return undefined;
    this.#open.delete(spanId);
    const { events, ...span } = begun.span;
    const durationMs = performance.now() - begun.started;
    this.#recorder.span({
      ...span,
      durationMs,
      attributes: { ...span.attributes, ...attributes },
      ...(events.length > 0 && { events: events as NonNullable<FinishedSpan["events"]> }),
      ...(error !== undefined && { error }),
    });
    return { seconds: durationMs / 1000, attributes: span.attributes };
  }

  note(event: AgentEvent, attributes: Attributes): void {
    const span = this.#open.get(event.span.spanId)?.span;
    span?.events.push({ name: event.type, at: Date.now(), attributes });
  }

  endRun(event: Extract<AgentEvent, { type: "agent-end" }>, withValues: boolean): void {
    const error = event.outcome === "answered" ? undefined : (event.error?.code ?? CODES[event.outcome]);
    // Spans that a cancelled or failed run left open get no end event of their own.
    for (const [spanId, { span }] of this.#open) {
      if (span.context.traceId !== event.span.traceId || spanId === event.span.spanId) continue;
      const ended = this.end(spanId, {}, error);
      if (!ended || span.kind !== "client") continue;
      const labels = { ...labelsOf(ended.attributes), "error.type": error };
      this.#recorder.metric("gen_ai.client.operation.duration", ended.seconds, labels);
    }
    this.#conversations.delete(event.span.traceId);
    const attributes = {
      ...usageOf(event.usage),
      "keyhole.agent.outcome": event.outcome,
      "keyhole.agent.steps": event.steps,
      ...(withValues && { "gen_ai.output.messages": message("assistant", event.text) }),
    };
    this.end(event.span.spanId, attributes, error);
  }
}

/** How each type of event is recorded; the others leave no trace. */
type EventRecords = {
  readonly [Type in AgentEvent["type"]]?: (event: Extract<AgentEvent, { type: Type }>) => unknown;
};

function usageOf({ input, output, cached }: { input: number; output: number; cached: number }): Attributes {
  return {
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
    "gen_ai.usage.cache_read.input_tokens": cached,
  };
}

/** The attributes of a model call that its metrics are counted by. */
function labelsOf(attributes: Attributes): Attributes {
  const names = [
    ...["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"],
    ...["server.address", "server.port"],
  ];
  return Object.fromEntries(names.map((name) => [name, attributes[name]]));
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

type MessagePart = Readonly<Record<string, unknown>>;

/** Messages as the conventions of OpenTelemetry write them: text, tool calls and their results as parts. */
function toMessageParts(messages: readonly ModelMessage[]): readonly object[] {
  return messages.map(({ role, content }) => ({
    role,
    parts: typeof content === "string" ? [text(content)] : content.flatMap(toPart),
  }));
}

/** An answer of the model with the calls that it makes. */
function toAnswerParts(
  said: string,
  calls: readonly { readonly callId: string; readonly tool: string; readonly args: unknown }[],
  finishReason: string,
): readonly object[] {
  const parts = [
    ...(said === "" ? [] : [text(said)]),
    ...calls.map(({ callId, tool, args }) => toolCall(callId, tool, args)),
  ];
  return [{ role: "assistant", parts, finish_reason: finishReason }];
}

function toPart(part: Exclude<ModelMessage["content"], string>[number]): MessagePart[] {
  if (part.type === "text") return [text(part.text)];
  if (part.type === "tool-call") return [toolCall(part.toolCallId, part.toolName, part.input)];
  if (part.type !== "tool-result") return [];
  const { output } = part;
  const response = "value" in output ? output.value : null;
  return [{ type: "tool_call_response", id: part.toolCallId, response }];
}

function text(content: string): MessagePart {
  return { type: "text", content };
}

function toolCall(id: string, name: string, args: unknown): MessagePart {
  return { type: "tool_call", id, name, arguments: args };
}
