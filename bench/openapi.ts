// The time in which an OpenAPI document becomes tools, and how many operations are usable.
import { basename } from "node:path";
import { createGateway } from "keyhole";
import { createOpenApiSource } from "keyhole/sources";
import type { Benchmark, Row } from "./benchmark.ts";

export const benchmark: Benchmark = async ({ data }) => {
  const document = data ?? "node_modules/@readme/oas-examples/3.0/json/star-trek.json";
  const source = createOpenApiSource("api", { document, baseUrl: "https://api.example.com" });
  const row = (metric: string, value: number, unit: string): Row => ({
    bench: "openapi",
    case: basename(document),
    system: "keyhole",
    metric,
    value: Math.round(value),
    unit,
  });
  const rows: Row[] = [];
  const started = performance.now();
  for await (const { drafts } of source.contents(new AbortController().signal)) {
    rows.push(
      row("read", performance.now() - started, "ms"),
      row("operations", drafts.length, "count"),
      row(
        "pruned",
        drafts.filter(({ notes }) => notes.some((note) => note.includes("nested"))).length,
        "count",
      ),
      row("unusable", drafts.filter(({ status }) => status !== undefined).length, "count"),
    );
  }
  const opened = performance.now();
  const gateway = createGateway({ domains: [], sources: [source] });
  await gateway.ready();
  rows.push(row("ready", performance.now() - opened, "ms"));
  await gateway.close();
  return rows;
};
