import { PROTOCOL_VERSION_META_KEY } from "@modelcontextprotocol/server";
import type { CallTrace, SpanContext } from "../schema/span-context.ts";
import { publish } from "../telemetry/events.ts";
import { beginSpan, traceOf } from "../telemetry/trace-context.ts";
import type { Incoming } from "./incoming.ts";

/** Answers a request within the trace that its client sent. */
export function traced<T extends object>(
  incoming: Incoming,
  target: string | undefined,
  work: (trace: CallTrace | undefined) => Promise<T>,
): Promise<T> {
  const { span, trace } = beginSpan(traceOf(incoming._meta));
  return span ? reported(incoming, target, span, () => work(trace)) : work(trace);
}

/** Answers a request and publishes its span. */
async function reported<T extends object>(
  incoming: Incoming,
  target: string | undefined,
  span: SpanContext,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = Date.now();
  const started = performance.now();
  const version = (incoming.envelope as Readonly<Record<string, unknown>> | undefined)?.[
    PROTOCOL_VERSION_META_KEY
  ];
  const report = (ending: { target?: string; error?: string; status?: string }) =>
    publish({
      type: "mcp",
      side: "server",
      method: incoming.method,
      requestId: String(incoming.id),
      ...(typeof version === "string" && { protocolVersion: version.slice(0, 32) }),
      transport: incoming.overHttp ? "tcp" : "pipe",
      span,
      startedAt,
      latencyMs: performance.now() - started,
      ...ending,
    });
  try {
    const result = await work();
    const failed = "isError" in result && result.isError === true;
    report({ ...(target !== undefined && { target }), ...(failed && { error: "tool_error" }) });
    return result;
  } catch (error) {
    // Leaves the target out: an unknown name would be the caller's own text.
    const { code } = error as { code?: unknown };
    const status = typeof code === "number" ? { status: String(code) } : {};
    report({ error: status.status ?? "_OTHER", ...status });
    throw error;
  }
}
