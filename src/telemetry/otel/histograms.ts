import { type Attributes, toNanos, toOtlpAttributes } from "./otlp.ts";

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

/** Beyond this many combinations of attributes, a metric counts the rest together. */
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

export interface Histograms {
  note(name: MetricName, value: number, attributes: Attributes): void;
  /** Writes the metrics as OTLP. Undefined if nothing was recorded since the last time. */
  take(now: number): object[] | undefined;
}

export function createHistograms(startedAt: number): Histograms {
  const metrics = new Map<MetricName, Map<string, Series>>();
  let isChanged = false;

  return {
    note: (name, value, given) => {
      const all = metrics.get(name) ?? new Map<string, Series>();
      metrics.set(name, all);
      const { bounds } = METRICS[name];
      const key = JSON.stringify(given);
      const attributes = all.has(key) || all.size < MAX_SERIES ? given : OVERFLOW;
      const at = attributes === given ? key : JSON.stringify(OVERFLOW);
      const series = all.get(at) ?? emptySeries(attributes, bounds.length + 1);
      all.set(at, series);
      const bucket = bounds.findIndex((bound) => value <= bound);
      series.buckets[bucket === -1 ? bounds.length : bucket]! += 1;
      series.count += 1;
      series.sum += value;
      series.min = Math.min(series.min, value);
      series.max = Math.max(series.max, value);
      isChanged = true;
    },
    take: (now) => {
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

function emptySeries(attributes: Attributes, buckets: number): Series {
  return {
    attributes,
    buckets: Array(buckets).fill(0),
    count: 0,
    sum: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
  };
}
