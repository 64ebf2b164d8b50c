import { isProblem } from "../../schema/problem.ts";
import type { CallTrace, TracedRequest } from "../../schema/span-context.ts";

/** Sends a request within the trace of its call and publishes its outcome. */
export function traceRequest<T extends object>(
  trace: CallTrace | undefined,
  request: TracedRequest,
  send: Send<T>,
): Promise<T> {
  return trace ? sendWithin(trace, request, send) : send({});
}

type Send<T> = (meta: Readonly<Record<string, string>>) => Promise<T>;

async function sendWithin<T extends object>(
  trace: CallTrace,
  request: TracedRequest,
  send: Send<T>,
): Promise<T> {
  const call = trace.begin?.(request);
  const { traceparent = trace.traceparent } = call ?? {};
  try {
    const result = await send({ traceparent, ...(trace.tracestate && { tracestate: trace.tracestate }) });
    call?.end("isError" in result && result.isError === true ? "tool_error" : undefined);
    return result;
  } catch (error) {
    call?.end(errorType(error));
    throw error;
  }
}

/** Returns the kind of the error, never its message. */
function errorType(error: unknown): string {
  if (isProblem(error)) return error.code;
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === "number" || typeof code === "string") return String(code).slice(0, 64);
  return typeof name === "string" ? name.slice(0, 64) : "_OTHER";
}
