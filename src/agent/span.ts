import { randomBytes } from "node:crypto";
import type { SpanContext } from "./agent-event.ts";

/** The root of a trace, with ids as W3C trace context has them. */
export function createSpan(): SpanContext {
  return { traceId: randomBytes(16).toString("hex"), spanId: spanId() };
}

export function childOf({ traceId, spanId: parentSpanId }: SpanContext): SpanContext {
  return { traceId, spanId: spanId(), parentSpanId };
}

function spanId(): string {
  return randomBytes(8).toString("hex");
}
