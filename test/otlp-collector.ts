import { onTestFinished } from "vitest";
import { z } from "zod";
import { startLoopbackApi } from "./loopback-api.ts";

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
}

/** A collector that refuses anything but OTLP JSON and exposes what it received. */
export async function startCollector() {
  const api = await startLoopbackApi();
  onTestFinished(() => api.close());
  const plainValue = (value: Record<string, unknown>): unknown => {
    const [[type, content] = []] = Object.entries(value);
    if (type === "intValue") return Number(content);
    if (type === "arrayValue")
      return (content as { values: Record<string, unknown>[] }).values.map(plainValue);
    return content;
  };
  const attribute = z.object({ key: z.string().min(1), value: z.record(z.string(), z.unknown()) });
  const attributes = z
    .array(attribute)
    .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, plainValue(value)])));
  const nanos = z.string().regex(/^\d{19}$/);
  const resource = z.object({ attributes });
  const scope = z.object({ name: z.literal("keyhole"), version: z.string() });
  const span = z.strictObject({
    traceId: z.string().regex(/^[0-9a-f]{32}$/),
    spanId: z.string().regex(/^[0-9a-f]{16}$/),
    parentSpanId: z
      .string()
      .regex(/^[0-9a-f]{16}$/)
      .optional(),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    attributes,
    events: z
      .array(
        z.strictObject({ name: z.string(), timeUnixNano: nanos, attributes }).transform(({ name }) => name),
      )
      .default([]),
    status: z.strictObject({ code: z.literal(2).optional() }),
  });
  const traces = z.strictObject({
    resourceSpans: z.array(
      z.strictObject({ resource, scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span) })) }),
    ),
  });
  const point = z.strictObject({
    attributes,
    startTimeUnixNano: nanos,
    timeUnixNano: nanos,
    count: z.string().regex(/^\d+$/),
    sum: z.number(),
    min: z.number(),
    max: z.number(),
    bucketCounts: z.array(z.string().regex(/^\d+$/)),
    explicitBounds: z.array(z.number()),
  });
  const histogram = z.strictObject({ aggregationTemporality: z.literal(2), dataPoints: z.array(point) });
  const metric = z.strictObject({ name: z.string(), unit: z.string(), histogram });
  const metrics = z.strictObject({
    resourceMetrics: z.array(
      z.strictObject({
        resource,
        scopeMetrics: z.array(z.strictObject({ scope, metrics: z.array(metric) })),
      }),
    ),
  });
  const bodies = (path: string) =>
    api.seen.filter(({ url }) => url === path).map(({ body }) => JSON.parse(body.toString()));
  return {
    ...api,
    api,
    text: () => api.seen.map(({ body }) => body.toString()).join("\n"),
    spans: (): Span[] =>
      bodies("/v1/traces").flatMap((body) =>
        traces
          .parse(body)
          .resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ) as Span[],
    resource: () => traces.parse(bodies("/v1/traces")[0]).resourceSpans[0]!.resource.attributes,
    metrics: () =>
      bodies("/v1/metrics").flatMap((body) =>
        metrics
          .parse(body)
          .resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics)),
      ),
  };
}
