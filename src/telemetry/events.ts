import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";

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

export type KeyholeEvent = OperationEvent | NoticeEvent;

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
