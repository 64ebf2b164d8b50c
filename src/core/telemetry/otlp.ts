import type { SpanContext } from "../nouns/span-context.ts";

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

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

/** 64-bit numbers as text, because JSON cannot represent them. */
function toNanos(ms: number): string {
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

const SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const MODEL_SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const SEARCH_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
];
const HITS = [0, 1, 2, 3, 5, 10, 20, 50];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Metrics with the units and bounds of the conventions. */
const METRICS = {
  "mcp.server.operation.duration": { unit: "s", bounds: SECONDS },
  "mcp.client.operation.duration": { unit: "s", bounds: SECONDS },
  "gen_ai.client.operation.duration": { unit: "s", bounds: MODEL_SECONDS },
  "gen_ai.client.token.usage": { unit: "{token}", bounds: TOKENS },
  "keyhole.operation.duration": { unit: "s", bounds: SECONDS },
  "keyhole.answer.tokens": { unit: "{token}", bounds: TOKENS },
  "keyhole.search.hits": { unit: "{entry}", bounds: HITS },
  "keyhole.search.duration": { unit: "s", bounds: SEARCH_SECONDS },
  "keyhole.search.used": { unit: "s", bounds: SECONDS },
} as const;

export type MetricName = keyof typeof METRICS;

/** Combinations of attributes per metric. Further ones are counted together. */
const MAX_SERIES = 500;
const OVERFLOW: Attributes = { "otel.metric.overflow": true };
const CUMULATIVE = 2;

interface Series {
  readonly attributes: Attributes;
  readonly buckets: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
}

export function createHistograms(startedAt: number) {
  const metrics = new Map<MetricName, Map<string, Series>>();
  let isChanged = false;

  return {
    note: (name: MetricName, value: number, labels: Attributes): void => {
      const all = metrics.get(name) ?? new Map<string, Series>();
      metrics.set(name, all);
      const { bounds } = METRICS[name];
      const key = JSON.stringify(labels);
      const attributes = all.has(key) || all.size < MAX_SERIES ? labels : OVERFLOW;
      const at = attributes === labels ? key : JSON.stringify(OVERFLOW);
      const series = all.get(at) ?? {
        attributes,
        buckets: Array<number>(bounds.length + 1).fill(0),
        count: 0,
        sum: 0,
        min: Number.POSITIVE_INFINITY,
        max: Number.NEGATIVE_INFINITY,
      };
      all.set(at, series);
      const bucket = bounds.findIndex((bound) => value <= bound);
      series.buckets[bucket === -1 ? bounds.length : bucket]! += 1;
      series.count += 1;
      series.sum += value;
      series.min = Math.min(series.min, value);
      series.max = Math.max(series.max, value);
      isChanged = true;
    },
    /** Formats the metrics as OTLP. Undefined if nothing was recorded since the last call. */
    take: (now: number): object[] | undefined => {
      if (!isChanged) return undefined;
      isChanged = false;
      return [...metrics].map(([name, series]) => ({
        name,
        unit: METRICS[name].unit,
        histogram: {
          aggregationTemporality: CUMULATIVE,
          dataPoints: [...series.values()].map(({ attributes, buckets, count, sum, min, max }) => ({
            attributes: toOtlpAttributes(attributes),
            startTimeUnixNano: toNanos(startedAt),
            timeUnixNano: toNanos(now),
            count: String(count),
            sum,
            min,
            max,
            bucketCounts: buckets.map(String),
            explicitBounds: METRICS[name].bounds,
          })),
        },
      }));
    },
  };
}
