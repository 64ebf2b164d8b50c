import { randomBytes } from "node:crypto";
import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import type { CallTrace, SpanContext, TracedCall, TracedRequest } from "../nouns/span-context.ts";

interface GatewayEvent {
  /** Name of the gateway. Absent in events of stores, which several gateways may share. */
  readonly gateway?: string;
}

/** A finished operation. Arguments appear by shape, never by value. */
export interface OperationEvent extends GatewayEvent {
  readonly type: "operation";
  readonly operation: string;
  /** Routes and ops that were run or described. */
  readonly targets: readonly string[];
  readonly principal: string;
  /** The conversation of the caller's trace, or a hash of the session's handle. */
  readonly conversation?: string;
  readonly traceId: string;
  readonly latencyMs: number;
  /** Tokens of the answer. */
  readonly tokens: number;
  /** `ok`, or the code of the problem. */
  readonly outcome: string;
  /** The ways in which untrusted text in the answer tries to steer a model, if any. */
  readonly injection?: readonly string[];
  readonly argumentShape: Readonly<Record<string, unknown>>;
  /** Its position in a trace. Absent if the caller's trace is not recorded. */
  readonly span?: SpanContext;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** A protocol request: from a client to this server, or from this gateway to an upstream server. */
export interface McpEvent extends GatewayEvent {
  readonly type: "mcp";
  readonly side: "server" | "client";
  readonly method: string;
  /** Name of the tool or prompt. */
  readonly target?: string;
  /** Label of the upstream server. */
  readonly server?: string;
  /** Address of the upstream server. */
  readonly url?: string;
  readonly conversation?: string;
  readonly requestId?: string;
  readonly protocolVersion?: string;
  readonly transport: "pipe" | "tcp";
  readonly span: SpanContext;
  readonly startedAt: number;
  readonly latencyMs: number;
  /** Kind of error: `tool_error`, or a code. */
  readonly error?: string;
  /** Code of a JSON-RPC error. */
  readonly status?: string;
}

/** A finished search for one need, without the query and the hits. */
export interface SearchEvent extends GatewayEvent {
  readonly type: "search";
  /** Number of entries found. */
  readonly found: number;
  /** The ranking that answered, if the engine reports it. */
  readonly by?: "words" | "vectors" | "both";
  readonly wordsMs?: number;
  /** Absent if vectors took no part. */
  readonly vectorsMs?: number;
}

/** A conversation used an entry from a search for the first time. */
export interface SearchUsedEvent extends GatewayEvent {
  readonly type: "search-used";
  /** Milliseconds since the search. */
  readonly afterMs: number;
}

/** A problem for the owner that no answer contains. */
export interface NoticeEvent extends GatewayEvent {
  readonly type: "notice";
  readonly notice:
    | "guidance-dropped"
    | "scope-missing"
    | "entry-invalid"
    | "definition-reworded"
    | "approval-needed"
    | "lane-guessed"
    | "content-failed"
    | "source-refused"
    | "snapshot-rebuilt"
    | "snapshot-failed"
    | "extraction-failed"
    | "extraction-idle"
    | "session-failed"
    | "injection-found"
    | "audit-failed"
    | "config-invalid"
    | "state-failed";
  readonly traceId?: string;
  readonly principal?: string;
  readonly detail: string;
}

/** A change in the state of a source. */
export interface SourceEvent extends GatewayEvent {
  readonly type: "source";
  readonly source: string;
  readonly state: "loading" | "loaded" | "failed" | "removed";
  /** Loading progress in documents. */
  readonly done?: number;
  readonly total?: number;
  /** Number of entries after loading. */
  readonly entries?: number;
  readonly detail?: string;
}

/** Every event of a gateway and its faces. See {@link onEvent}. */
export type KeyholeEvent =
  | OperationEvent
  | McpEvent
  | SearchEvent
  | SearchUsedEvent
  | NoticeEvent
  | SourceEvent;

const EVENT_CHANNEL = "keyhole:events";
const NOTICE_CHANNEL = "keyhole:notices";
const events = channel(EVENT_CHANNEL);
const notices = channel(NOTICE_CHANNEL);

/** Whether anyone listens. Otherwise skip work that only serves events. */
export function isHeard(): boolean {
  return events.hasSubscribers;
}

/** Publishes the events of one gateway. */
export type Publish = (event: KeyholeEvent) => void;

/** Publishes an event without known secrets. */
export function publish(original: KeyholeEvent, gateway?: string): void {
  if (!events.hasSubscribers && !notices.hasSubscribers) return;
  const event = hideSecrets(gateway === undefined ? original : { ...original, gateway });
  if (events.hasSubscribers) events.publish(event);
  if (notices.hasSubscribers && (event.type === "notice" || event.type === "source")) notices.publish(event);
}

/**
 * Calls the listener for every event of this process; `gateway` names its gateway. Returns unsubscribe. See {@link
 * startTelemetry}.
 * @example
 * ```ts
 * import { createGateway, onEvent } from "keyhole";
 *
 * const stop = onEvent((event) => {
 *   if (event.type === "operation") console.log(event.operation, event.outcome);
 * });
 * const gateway = createGateway({ domains: [] });
 * await gateway.ask({ query: "refund" });
 * stop();
 * await gateway.close();
 * ```
 */
export function onEvent(listener: (event: KeyholeEvent) => void): () => void {
  return listen(EVENT_CHANNEL, listener);
}

/** Calls the listener only for notices and source states, without the cost of spans. */
export function onNotice(listener: (event: NoticeEvent | SourceEvent) => void): () => void {
  return listen(NOTICE_CHANNEL, listener);
}

function listen<E>(name: string, listener: (event: E) => void): () => void {
  const handler = (message: unknown) => listener(message as E);
  subscribe(name, handler);
  return () => void unsubscribe(name, handler);
}

const MAX_DEPTH = 6;
const MAX_KEYS = 32;

/** Describes a value by type and size, without its content: `array(2)`. */
export function flatShape(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return `string(${value.length})`;
  if (Array.isArray(value)) return `array(${value.length})`;
  return typeof value === "object" ? `object(${Object.keys(value).length})` : typeof value;
}

/** Describes arguments by type and size, without values: `{ title: "string(12)", tags: "array(2)" }`. */
export function argumentShape(value: unknown, depth = 0): unknown {
  if (value === null || typeof value !== "object" || depth >= MAX_DEPTH) return flatShape(value);
  if (Array.isArray(value)) {
    return value.length === 0 ? flatShape(value) : [flatShape(value), argumentShape(value[0], depth + 1)];
  }
  const shown = Object.keys(value)
    .slice(0, MAX_KEYS)
    .filter((key) => /^[\w.$-]{1,64}$/.test(key));
  return Object.fromEntries(
    shown.map((key) => [key, argumentShape((value as Record<string, unknown>)[key], depth + 1)]),
  );
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_STATE = 512;
const SAMPLED = 1;

/** Trace of a call. */
export interface Tracing {
  /** The call's own span. Absent without subscribers, or if the caller's trace is not recorded. */
  readonly span?: SpanContext;
  readonly trace?: CallTrace;
}

const NONE: Tracing = {};

/**
 * Begins a span below the caller's trace, or a new trace with this UUID as its id. Without listeners there is no span,
 * and the caller's trace passes unchanged.
 */
export function beginSpan(caller: CallTrace | undefined, publish: Publish, uuid?: string): Tracing {
  const parent = caller && parseTraceparent(caller.traceparent);
  const passedOn = caller && parent ? { traceparent: caller.traceparent, ...stateOf(caller) } : undefined;
  if (!isHeard() || parent?.sampled === false) return passedOn ? { trace: passedOn } : NONE;
  const span = newSpan(parent, uuid?.replaceAll("-", ""));
  const trace = { traceparent: toTraceparent(span), ...(parent && caller && stateOf(caller)) };
  return { span, trace: inConversation(trace, span, publish, caller?.conversation) };
}

/** The trace of a span whose requests belong to a conversation. */
export function inConversation(
  trace: CallTrace,
  span: SpanContext,
  publish: Publish,
  conversation?: string,
): CallTrace {
  const named = conversation === undefined ? {} : { conversation };
  return { ...trace, ...named, begin: (request) => beginRequest(span, { ...request, ...named }, publish) };
}

/** The trace below a span, for a call of its conversation. Undefined without subscribers. */
export function traceBelow(span: SpanContext, conversation: string): CallTrace | undefined {
  return isHeard() ? { traceparent: toTraceparent(span), conversation } : undefined;
}

/** Creates a span below another, or the first of a trace. */
export function newSpan(parent?: SpanContext, rootTraceId?: string): SpanContext {
  const spanId = randomBytes(8).toString("hex");
  if (parent) return { traceId: parent.traceId, spanId, parentSpanId: parent.spanId };
  return { traceId: rootTraceId ?? randomBytes(16).toString("hex"), spanId };
}

function toTraceparent({ traceId, spanId }: SpanContext): string {
  return `00-${traceId}-${spanId}-01`;
}

/** Parses an outside `traceparent`. Undefined if it is invalid. */
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
