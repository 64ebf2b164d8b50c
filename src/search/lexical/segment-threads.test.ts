import { expect, test } from "vitest";
import type { SearchDocument } from "../port/search-index.ts";
import { buildSegment } from "./segment-builder.ts";
import { SegmentThreads } from "./segment-threads.ts";

const documents = Array.from(
  { length: 300 },
  (_, at): SearchDocument => ({
    id: `d${at}`,
    kind: "tool",
    domain: `domain${at % 2}`,
    visibility: "listed",
    scopes: at % 3 === 0 ? ["s"] : [],
    tags: ["t"],
    name: `get_weather_${at % 7}`,
    aliases: [`wetter ${at}`],
    description: "天气 of a city",
    parameters: "",
    domainText: "weather",
    content: "",
    ...(at % 5 === 0 && { weights: { name: 0 } }),
  }),
);

test("threads make the same segments as this one, and several at once", async () => {
  const here = buildSegment(documents);
  const threads = new SegmentThreads();
  expect(threads.width).toBeGreaterThan(0);
  const segments = await Promise.all(Array.from({ length: 5 }, () => threads.build(documents)));
  for (const segment of segments) expect(segment).toEqual(here);
  threads.end();
});

test("batches of a thread that ends are refused, and the next one gets a new thread", async () => {
  const threads = new SegmentThreads();
  const building = threads.build(documents);
  threads.end();
  await expect(building).rejects.toThrow("ended");
  expect((await threads.build(documents)).ids.size).toBe(documents.length);
  threads.end();
});
