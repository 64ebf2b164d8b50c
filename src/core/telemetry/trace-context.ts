import { randomBytes } from "node:crypto";
import type { CallTrace, SpanContext, TracedCall, TracedRequest } from "../nouns/span-context.ts";
import { isHeard, type Publish } from "./events.ts";

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_STATE = 512;
const SAMPLED = 1;

/** The trace of a call. */
export interface Tracing {
  /** The call's own span. Absent without subscribers, or if the caller's trace is not recorded. */
  readonly span?: SpanContext;
  readonly trace?: CallTrace;
}

const NONE: Tracing = {};

/**
 * Begins a span below the trace that came with a call, or a new trace whose id is that UUID. If nobody listens no
 * span is made, and the caller's trace is passed on unchanged.
 */
export function beginSpan(given: CallTrace | undefined, publish: Publish, uuid?: string): Tracing {
  const parent = given && parseTraceparent(given.traceparent);
  const passed = given && parent ? { traceparent: given.traceparent, ...stateOf(given) } : undefined;
  if (!isHeard() || parent?.sampled === false) return passed ? { trace: passed } : NONE;
  const span = newSpan(parent, uuid?.replaceAll("-", ""));
  const trace = { traceparent: toTraceparent(span), ...(parent && given && stateOf(given)) };
  return { span, trace: inConversation(trace, span, publish, given?.conversation) };
}

/** The trace of a span whose requests belong to a conversation. */
export function inConversation(
  trace: CallTrace,
  span: SpanContext,
  publish: Publish,
  conversation?: string,
): CallTrace {
  const own = conversation === undefined ? {} : { conversation };
  return { ...trace, ...own, begin: (request) => beginRequest(span, { ...request, ...own }, publish) };
}

/** The trace below a span, for a call that belongs to its conversation. Undefined without subscribers. */
export function traceBelow(span: SpanContext, conversation: string): CallTrace | undefined {
  return isHeard() ? { traceparent: toTraceparent(span), conversation } : undefined;
}

/** Creates a span below another, or the first of a trace. */
export function newSpan(parent?: SpanContext, rootTraceId?: string): SpanContext {
  const spanId = randomBytes(8).toString("hex");
  if (parent) return { traceId: parent.traceId, spanId, parentSpanId: parent.spanId };
  return { traceId: rootTraceId ?? randomBytes(16).toString("hex"), spanId };
}

export function toTraceparent({ traceId, spanId }: SpanContext): string {
  return `00-${traceId}-${spanId}-01`;
}

/** Parses a `traceparent` from outside. Undefined if it is not one. */
export function parseTraceparent(text: unknown): (SpanContext & { readonly sampled: boolean }) | undefined {
  const match = typeof text === "string" && text.length <= MAX_STATE ? TRACEPARENT.exec(text) : null;
  if (!match) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", rest] = match;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Reads the trace from the `_meta` of a request. */
export function traceOf(meta: Readonly<Record<string, unknown>> | undefined): CallTrace | undefined {
  const traceparent = meta?.traceparent;
  if (typeof traceparent !== "string") return undefined;
  const tracestate = meta?.tracestate;
  return { traceparent, ...(typeof tracestate === "string" && { tracestate }) };
}

function stateOf({ tracestate }: CallTrace): { tracestate?: string } {
  const isFit =
    tracestate !== undefined && tracestate.length <= MAX_STATE && /^[\x20-\x7e]*$/.test(tracestate);
  return isFit ? { tracestate } : {};
}

function beginRequest(
  parent: SpanContext,
  request: TracedRequest & { readonly conversation?: string },
  publish: Publish,
): TracedCall {
  const span = newSpan(parent);
  const startedAt = Date.now();
  const started = performance.now();
  return {
    traceparent: toTraceparent(span),
    end: (error) =>
      publish({
        type: "mcp",
        side: "client",
        ...request,
        span,
        startedAt,
        latencyMs: performance.now() - started,
        ...(error !== undefined && { error }),
      }),
  };
}
