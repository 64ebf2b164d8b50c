import { createGateway, defineDomain, defineResource, defineTool } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { loadTokenCounter } from "../src/base/tokens/tokens.ts";
import type { Json } from "../src/base/util/json.ts";

const countTokens = await loadTokenCounter();
/** The address, the handle and the way to read on, beside the content. */
const NOTE_TOKENS = 100;

function gatewayOf(value: Json, options: { outside?: boolean } = {}) {
  const documents = Array.from({ length: 20 }, (_, at) =>
    defineResource({
      route: `wiki://resources/page-${at}`,
      name: `Page ${at}`,
      description: "A page.",
      fetch: () => "A plain sentence about nothing. ".repeat(500),
    }),
  );
  const tool = defineTool({
    name: "get_report",
    description: "Get the report.",
    ...(options.outside && { outside: true }),
    execute: () => value,
  });
  const gateway = createGateway({
    domains: [defineDomain({ name: "wiki", description: "Pages.", tools: [tool], resources: documents })],
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

const orders = Array.from({ length: 4_000 }, (_, id) => ({ id, state: "open", note: "A note about it." }));
const manual = Array.from(
  { length: 60 },
  (_, at) => `## Part ${at}\n\n${"A sentence of the manual. ".repeat(80)}\n`,
).join("\n");

test("a large list is shown by its first whole items, and read on in full pages", async () => {
  const gateway = gatewayOf(orders);
  const first = await gateway.get({ routes: ["wiki.report.get"] });
  expect(countTokens(first.text)).toBeLessThanOrEqual(900 + NOTE_TOKENS);
  expect(first.text).toMatch(/\[\d+ of 4000 items, all \d+ characters at result:\/\//);
  const [result] = first.results;
  const data = (
    result as { data: { content: Json[]; stored: { handle: string; left: { params: object }[] } } }
  ).data;
  expect(data.content).toEqual(orders.slice(0, data.content.length));
  const next = await gateway.get({
    routes: [{ route: data.stored.handle, params: { ...data.stored.left[0]!.params } }],
  });
  expect(countTokens(next.text)).toBeGreaterThan(2_500);
});

test("a result that fits is whole", async () => {
  const gateway = gatewayOf(orders.slice(0, 300));
  const { text } = await gateway.get({ routes: ["wiki.report.get"] });
  expect(countTokens(text)).toBeGreaterThan(1_200);
  expect(text).not.toContain("result://");
});

test("a long text is shown with its headings, whose offsets read the part", async () => {
  const gateway = gatewayOf(manual);
  const { text } = await gateway.get({ routes: ["wiki.report.get"] });
  expect(countTokens(text)).toBeLessThanOrEqual(900 + NOTE_TOKENS);
  const offset = Number(/headings by offset: .*?(\d+) Part 7;/.exec(text)?.[1]);
  const handle = /result:\/\/[\w-]+/.exec(text)![0];
  const part = await gateway.get({ routes: [{ route: handle, params: { offset, limit: 1 } }] });
  expect(part.text).toContain("## Part 7");
});

test("of many large documents the first are whole, and the others are named with their handles", async () => {
  const gateway = gatewayOf("");
  const { text } = await gateway.get({
    routes: Array.from({ length: 20 }, (_, at) => `wiki://resources/page-${at}`),
  });
  expect(countTokens(text)).toBeLessThanOrEqual(20_000);
  const pages = text.split(/^# /m).slice(1);
  expect(pages).toHaveLength(20);
  expect(pages[0]).not.toContain("result://");
  expect(pages.at(-1)).toContain("result://");
});

test("of many failures of one tool the first has the schema", async () => {
  const fields = Array.from({ length: 400 }, (_, at) => [`field_${at}`, { type: "string", maxLength: 9 }]);
  const wide = defineTool({
    name: "get_rows",
    op: "wide.row.get",
    description: "Get rows.",
    inputSchema: { type: "object", properties: Object.fromEntries(fields), required: ["field_0"] },
    execute: () => 1,
  });
  const gateway = createGateway({
    domains: [defineDomain({ name: "wide", description: "Wide.", tools: [wide] })],
  });
  onTestFinished(() => gateway.close());
  const got = await gateway.get({ routes: Array.from({ length: 60 }, () => "wide.row.get") });
  const requests = Array.from({ length: 20 }, () => ({ exec: { op: "wide.row.get", args: { field_1: 1 } } }));
  const batch = await gateway.batch({ requests });
  for (const { text } of [got, batch]) {
    expect(text.match(/"schema":/g)).toHaveLength(1);
    expect(text.match(/field_0/g)!.length).toBeGreaterThanOrEqual(20);
    expect(countTokens(text)).toBeLessThanOrEqual(6_000);
  }
});
