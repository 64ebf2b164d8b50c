/** One message of a request, in a shape common to all vendors. */
export interface ScriptedMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  /** Names of the tools that an assistant message calls. */
  readonly calls: readonly string[];
}

/** A request to a scripted model. */
export interface ScriptedRequest {
  readonly messages: readonly ScriptedMessage[];
  /** Names of the offered tools, in order. */
  readonly tools: readonly string[];
  /** The request as the vendor's client sent it. */
  readonly body: unknown;
}

/** A call that a scripted model makes. */
export interface ScriptedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The namespace in which OpenAI's Responses API offers the tool. */
  readonly namespace?: string;
  /** The call is to the search for deferred tools that OpenAI's Responses API has. */
  readonly isSearch?: true;
}

/** An answer of a scripted model. */
export interface ScriptedReply {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number };
  /** Why the answer ends. Default: `tool-calls` with calls, otherwise `stop`. */
  readonly finish?: "stop" | "length" | "content-filter";
  /** Over HTTP: an error in place of an answer. */
  readonly error?: {
    readonly status: number;
    readonly message: string;
    readonly headers?: Record<string, string>;
  };
  /** Over HTTP: the connection breaks after this many events of a stream. */
  readonly breakAfter?: number;
  /** Over HTTP: the stream ends cleanly after this many events. */
  readonly endAfter?: number;
  /** Over HTTP: the server stays silent after this many events, or before a whole answer. */
  readonly hangAfter?: number;
}

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

/** An event that repeats the type of its data as its name. */
export function namedEvent(data: { readonly type: string; readonly [field: string]: unknown }): WireEvent {
  return { event: data.type, data: JSON.stringify(data) };
}

/** The pieces in which a text is streamed. */
export function wordsOf(text = ""): string[] {
  return text.match(/\S+\s*/g) ?? [];
}
