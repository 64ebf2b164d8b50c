import {
  type KeyholeEvent,
  type McpEvent,
  type OperationEvent,
  onEvent,
  type SearchEvent,
} from "./events.ts";
import type { Attributes } from "./otlp.ts";
import type { Recorder } from "./otlp-exporter.ts";

/** Turns events of the gateway and its faces into spans and metrics. Returns unsubscribe. */
export function recordEvents(recorder: Recorder): () => void {
  return onEvent((event: KeyholeEvent) => {
    if (event.type === "operation") recordOperation(recorder, event);
    if (event.type === "mcp") recordRequest(recorder, event);
    if (event.type === "search") recordSearch(recorder, event);
    if (event.type === "search-used") recorder.metric("keyhole.search.used", event.afterMs / 1000, {});
  });
}

function recordOperation(recorder: Recorder, event: OperationEvent): void {
  const { operation, outcome, span, latencyMs, tokens } = event;
  // An unknown name is the caller's own text.
  const targets = outcome === "NOT_FOUND" ? [] : event.targets.map(withoutQuery);
  const tool = operation === "exec" && targets.length === 1 ? targets[0] : undefined;
  const error = outcome === "ok" || outcome === "asks" ? undefined : outcome;
  const labels = { "keyhole.operation": operation, "error.type": error };
  recorder.metric("keyhole.operation.duration", latencyMs / 1000, labels);
  recorder.metric("keyhole.answer.tokens", tokens, labels);
  if (!span) return;
  const attributes: Attributes = {
    "keyhole.operation": operation,
    "keyhole.trace_id": event.traceId,
    "keyhole.answer.tokens": tokens,
    "keyhole.targets": targets.length > 0 ? targets : undefined,
    "enduser.id": event.principal,
    "gen_ai.conversation.id": event.conversation,
    ...(tool !== undefined && toolAttributes(tool)),
  };
  recorder.span({
    context: span,
    name: tool === undefined ? `keyhole.${operation}` : `execute_tool ${tool}`,
    kind: "internal",
    startedAt: event.startedAt,
    durationMs: latencyMs,
    attributes,
    ...(error !== undefined && { error }),
  });
}

/** The hit rate is the share of searches that found something. */
function recordSearch(recorder: Recorder, { found, by, wordsMs, vectorsMs }: SearchEvent): void {
  recorder.metric("keyhole.search.hits", found, {
    "keyhole.search.by": by,
    "keyhole.search.found": found > 0,
  });
  for (const [part, ms] of Object.entries({ words: wordsMs, vectors: vectorsMs }))
    if (ms !== undefined)
      recorder.metric("keyhole.search.duration", ms / 1000, { "keyhole.search.part": part });
}

function recordRequest(recorder: Recorder, event: McpEvent): void {
  const { side, method, target, error } = event;
  const labels: Attributes = {
    "mcp.method.name": method,
    ...(method === "tools/call" && target !== undefined && toolAttributes(target)),
    ...(method === "prompts/get" && target !== undefined && { "gen_ai.prompt.name": target }),
    "mcp.protocol.version": event.protocolVersion,
    "network.transport": event.transport,
    "rpc.response.status_code": event.status,
    ...serverAttributes(event.url),
  };
  recorder.metric(`mcp.${side}.operation.duration`, event.latencyMs / 1000, {
    ...labels,
    "error.type": error,
  });
  recorder.span({
    context: event.span,
    name: target === undefined ? method : `${method} ${target}`,
    kind: side,
    startedAt: event.startedAt,
    durationMs: event.latencyMs,
    attributes: {
      ...labels,
      "jsonrpc.request.id": event.requestId,
      "keyhole.upstream": event.server,
      "gen_ai.conversation.id": event.conversation,
    },
    ...(error !== undefined && { error }),
  });
}

function toolAttributes(tool: string): Attributes {
  return { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool };
}

/** Removes the query of a route: it may contain what a person asked for. */
function withoutQuery(target: string): string {
  return target.split("?", 1)[0]!;
}

/** `server.address` and `server.port` of an address; empty if it is unreadable. */
export function serverAttributes(url: string | undefined): Attributes {
  const read = url === undefined ? null : URL.parse(url);
  if (!read) return {};
  const port = read.port || (read.protocol === "https:" ? "443" : "80");
  return { "server.address": read.hostname, "server.port": Number(port) };
}
