import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";
import type { SpanContext } from "../schema/span-context.ts";

/** One operation, as it went. Arguments appear by shape, never by value. */
export interface OperationEvent {
  readonly type: "operation";
  readonly operation: string;
  /** What was run or described: routes and ops. */
  readonly targets: readonly string[];
  readonly principal: string;
  readonly session?: string;
  readonly traceId: string;
  readonly latencyMs: number;
  /** Tokens of the text that was answered. */
  readonly tokens: number;
  /** `ok`, or the code of the problem. */
  readonly outcome: string;
  readonly argumentShape: Readonly<Record<string, unknown>>;
  /** Where in a trace it was; absent where the caller's trace is not recorded. */
  readonly span?: SpanContext;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** One request of the protocol: of a client to this server, or of this gateway to an upstream. */
export interface McpEvent {
  readonly type: "mcp";
  readonly side: "server" | "client";
  readonly method: string;
  /** The name of the tool or prompt. */
  readonly target?: string;
  /** The label of the upstream. */
  readonly server?: string;
  readonly requestId?: string;
  readonly protocolVersion?: string;
  readonly transport: "pipe" | "tcp";
  readonly span: SpanContext;
  readonly startedAt: number;
  readonly latencyMs: number;
  /** What kind of error it ended with: `tool_error`, or a code. */
  readonly error?: string;
  /** The code of a JSON-RPC error. */
  readonly status?: string;
}

/** Something that was decided silently for the caller and that the owner may want to know. */
export interface NoticeEvent {
  readonly type: "notice";
  readonly notice:
    | "guidance-dropped"
    | "entry-invalid"
    | "content-failed"
    | "source-refused"
    | "snapshot-rebuilt"
    | "snapshot-failed"
    | "extraction-failed"
    | "extraction-idle"
    | "session-failed";
  readonly traceId?: string;
  readonly principal?: string;
  readonly detail: string;
}

/** How a source gets on. */
export interface SourceEvent {
  readonly type: "source";
  /** Its id. */
  readonly source: string;
  readonly state: "loading" | "loaded" | "failed" | "removed";
  /** While it loads: how many of how many documents. */
  readonly done?: number;
  readonly total?: number;
  /** When it is loaded: how many entries it has. */
  readonly entries?: number;
  readonly detail?: string;
}

export type KeyholeEvent = OperationEvent | McpEvent | NoticeEvent | SourceEvent;

export const EVENT_CHANNEL = "keyhole:events";
const events = channel(EVENT_CHANNEL);

/** Whether anyone would hear an event: what only serves events need not be worked out otherwise. */
export function isHeard(): boolean {
  return events.hasSubscribers;
}

export function publish(event: KeyholeEvent): void {
  if (events.hasSubscribers) events.publish(event);
}

/** Calls the listener for every event of this process; the answer stops it. */
export function onEvent(listener: (event: KeyholeEvent) => void): () => void {
  const handler = (message: unknown) => listener(message as KeyholeEvent);
  subscribe(EVENT_CHANNEL, handler);
  return () => void unsubscribe(EVENT_CHANNEL, handler);
}
