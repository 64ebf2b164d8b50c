import type { SpanContext } from "../../schema/span-context.ts";

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** A span that has ended. */
export interface FinishedSpan {
  readonly context: SpanContext;
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly attributes: Attributes;
  /** The kind of error. */
  readonly error?: string;
  readonly events?: readonly {
    readonly name: string;
    readonly at: number;
    readonly attributes: Attributes;
  }[];
}

/** OTLP numbers of span kinds. */
const KINDS = { internal: 1, server: 2, client: 3 } as const;
const ERROR_STATUS = 2;
const MAX_TEXT = 8_192;
const MAX_NAME = 256;

/** Writes a span as OTLP JSON. */
export function toOtlpSpan(span: FinishedSpan): object {
  const { traceId, spanId, parentSpanId } = span.context;
  const attributes = { ...span.attributes, "error.type": span.error };
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name: span.name.slice(0, MAX_NAME),
    kind: KINDS[span.kind],
    startTimeUnixNano: toNanos(span.startedAt),
    endTimeUnixNano: toNanos(span.startedAt + Math.max(0, span.durationMs)),
    attributes: toOtlpAttributes(attributes),
    ...(span.events && {
      events: span.events.map(({ name, at, attributes }) => ({
        name,
        timeUnixNano: toNanos(at),
        attributes: toOtlpAttributes(attributes),
      })),
    }),
    status: span.error === undefined ? {} : { code: ERROR_STATUS },
  };
}

export function toOtlpAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toValue(value) }],
  );
}

/** 64-bit numbers as text, because JSON cannot hold them. */
export function toNanos(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6)));
}

function toValue(value: AttributeValue): object {
  if (typeof value === "string") return { stringValue: value.slice(0, MAX_TEXT).toWellFormed() };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") {
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  return { arrayValue: { values: value.map(toValue) } };
}
