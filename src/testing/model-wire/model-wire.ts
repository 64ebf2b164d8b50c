import type { ScriptedReply, ScriptedRequest } from "./scripted-exchange.ts";

/** A server-sent event of a stream. */
export interface WireEvent {
  readonly event?: string;
  readonly data: string;
}

/** The wire format of one vendor's API. */
export interface ModelWire {
  matches(path: string): boolean;
  isStream(body: unknown, path: string): boolean;
  toRequest(body: unknown): ScriptedRequest;
  toAnswer(reply: ScriptedReply, turn: number): unknown;
  toEvents(reply: ScriptedReply, turn: number): readonly WireEvent[];
  readonly lastEvent?: WireEvent;
  toError(error: NonNullable<ScriptedReply["error"]>): unknown;
}
