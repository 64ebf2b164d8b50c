/** A position in a trace, by which telemetry ties events together. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** A request to an upstream, as a trace records it. */
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

/** The trace of a call, to pass on with the call's own requests. */
export interface CallTrace {
  /** In the format of W3C Trace Context. */
  readonly traceparent: string;
  readonly tracestate?: string;
  /** The conversation that the call belongs to, in telemetry's words. It is not sent to upstreams. */
  readonly conversation?: string;
  /** Starts the span of a request to an upstream. Absent without subscribers. */
  readonly begin?: (request: TracedRequest) => TracedCall;
}

/** The span of one request. `end` closes it. */
export interface TracedCall {
  readonly traceparent: string;
  end(error?: string): void;
}
