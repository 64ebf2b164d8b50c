import { randomBytes } from "node:crypto";
import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import type { CallTrace, SpanContext, TracedCall, TracedRequest } from "../nouns/span-context.ts";

interface GatewayEvent {
  /** The name of the gateway. Absent in events of stores, which several gateways may share. */
  readonly gateway?: string;
}

/** A finished operation. Arguments appear by shape, never by value. */
export interface OperationEvent extends GatewayEvent {
  readonly type: "operation";
  readonly operation: string;
  /** Routes and ops that were run or described. */
  readonly targets: readonly string[];
  readonly principal: string;
  /** The conversation: of the caller's trace, or a hash of the session's handle. */
  readonly conversation?: string;
  readonly traceId: string;
  readonly latencyMs: number;
  /** Tokens of the answer. */
  readonly tokens: number;
  /** `ok`, or the code of the problem. */
  readonly outcome: string;
  /** The ways in which untrusted text in the answer tries to steer a model. Absent if none were found. */
  readonly injection?: readonly string[];
  readonly argumentShape: Readonly<Record<string, unknown>>;
  /** Its place in a trace. Absent if the caller's trace is not recorded. */
  readonly span?: SpanContext;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** A request of the protocol: from a client to this server, or from this gateway to an upstream. */
export interface McpEvent extends GatewayEvent {
  readonly type: "mcp";
  readonly side: "server" | "client";
  readonly method: string;
  /** The name of the tool or prompt. */
  readonly target?: string;
  /** The label of the upstream. */
  readonly server?: string;
  /** The address of the upstream. */
  readonly url?: string;
  readonly conversation?: string;
  readonly requestId?: string;
  readonly protocolVersion?: string;
  readonly transport: "pipe" | "tcp";
  readonly span: SpanContext;
  readonly startedAt: number;
  readonly latencyMs: number;
  /** The kind of error: `tool_error`, or a code. */
  readonly error?: string;
  /** The code of a JSON-RPC error. */
  readonly status?: string;
}

/** A finished search for one need. It has neither the query nor the hits. */
export interface SearchEvent extends GatewayEvent {
  readonly type: "search";
  /** Number of entries found. */
  readonly found: number;
  /** The ranking that answered, where the engine says so. */
  readonly by?: "words" | "vectors" | "both";
  readonly wordsMs?: number;
  /** Absent where vectors took no part. */
  readonly vectorsMs?: number;
}

/** A search led to a call: its conversation used an entry that it found, for the first time. */
export interface SearchUsedEvent extends GatewayEvent {
  readonly type: "search-used";
  /** Milliseconds since the search. */
  readonly afterMs: number;
}

/** A problem that is in no answer and that the owner may want to know. */
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
    | "state-failed";
  readonly traceId?: string;
  readonly principal?: string;
  readonly detail: string;
}

/** A change in the state of a source. */
export interface SourceEvent extends GatewayEvent {
  readonly type: "source";
  /** Its id. */
  readonly source: string;
  readonly state: "loading" | "loaded" | "failed" | "removed";
  /** Progress while it loads, in documents. */
  readonly done?: number;
  readonly total?: number;
  /** Number of entries once it is loaded. */
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

export const EVENT_CHANNEL = "keyhole:events";
const NOTICE_CHANNEL = "keyhole:notices";
const events = channel(EVENT_CHANNEL);
const notices = channel(NOTICE_CHANNEL);

/** Whether anyone listens. Data that serves events alone need not be computed otherwise. */
export function isHeard(): boolean {
  return events.hasSubscribers;
}

/** Publishes the events of one gateway. */
export type Publish = (event: KeyholeEvent) => void;

/** Publishes an event without the secrets that this process knows. */
export function publish(given: KeyholeEvent, gateway?: string): void {
  if (!events.hasSubscribers && !notices.hasSubscribers) return;
  const event = hideSecrets(gateway === undefined ? given : { ...given, gateway });
  if (events.hasSubscribers) events.publish(event);
  if (notices.hasSubscribers && (event.type === "notice" || event.type === "source")) notices.publish(event);
}

/**
 * Calls the listener for every event of this process, whose `gateway` is the name of its gateway. Returns unsubscribe.
 * See {@link startTelemetry}.
 *
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

/** Calls the listener for notices and states of sources only, so that calls make no spans for it. */
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

/** Describes a value by its type and size, without anything inside it: `array(2)`. */
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
