import type { ScriptedReply, ScriptedRequest } from "../scripted-model.ts";

/** An event of a stream as server-sent events carry it. */
export interface WireEvent {
  readonly event?: string;
  readonly data: string;
}

/** How one vendor's API is spoken. */
export interface ModelWire {
  matches(path: string): boolean;
  isStream(body: unknown, path: string): boolean;
  toRequest(body: unknown): ScriptedRequest;
  toAnswer(reply: ScriptedReply, turn: number): unknown;
  toEvents(reply: ScriptedReply, turn: number): readonly WireEvent[];
  readonly lastEvent?: WireEvent;
  toError(error: NonNullable<ScriptedReply["error"]>): unknown;
}
