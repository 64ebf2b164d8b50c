/** A position in a trace. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** A request to an upstream server, for its span. */
export interface TracedRequest {
  readonly method: string;
  /** The name of the tool or prompt. */
  readonly target?: string;
  /** The label of the upstream. */
  readonly server: string;
  readonly transport: "pipe" | "tcp";
  /** The address of a server over HTTP. */
  readonly url?: string;
}

/** The trace of a call, to pass on with its own requests. */
export interface CallTrace {
  /** In W3C Trace Context format. */
  readonly traceparent: string;
  readonly tracestate?: string;
  /** The conversation of the call, for telemetry. Not sent to upstream servers. */
  readonly conversation?: string;
  /** Starts the span of a request to an upstream server. Absent without subscribers. */
  readonly begin?: (request: TracedRequest) => TracedCall;
}

/** The span of one request. `end` closes it. */
export interface TracedCall {
  readonly traceparent: string;
  end(error?: string): void;
}
