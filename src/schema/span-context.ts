/** Where in a trace something happened: what telemetry ties together. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** A request to an upstream, as a trace tells of it. */
export interface TracedRequest {
  readonly method: string;
  /** The name of the tool or prompt. */
  readonly target?: string;
  /** The label of the upstream. */
  readonly server: string;
  readonly transport: "pipe" | "tcp";
}

/** The trace that a call belongs to, as it goes on to what the call asks. */
export interface CallTrace {
  /** As W3C Trace Context writes it. */
  readonly traceparent: string;
  readonly tracestate?: string;
  /** Tells of a request to an upstream; the answer goes with it and is ended with it. Absent where nobody listens. */
  readonly begin?: (request: TracedRequest) => TracedCall;
}

export interface TracedCall {
  readonly traceparent: string;
  end(error?: string): void;
}
