import { createGateway, defineDomain, defineTool } from "keyhole";
import { expect, test } from "vitest";
import { loadTokenCounter } from "../src/base/tokens/tokens.ts";
import { verifies } from "./claims.ts";
import { auditor, clerk, createShop, reader } from "./shop.ts";

const countTokens = await loadTokenCounter();

verifies("get:isolated", "each route has its own outcome", async () => {
  const gateway = createGateway({ domains: createShop().domains, principal: reader });
  const { results, summary } = await gateway.get({
    routes: [
      { route: "shop://resources/manual" },
      { route: "shop://tools/order/lost" },
      { route: "shop://tools/hidden/ledger", params: { yeer: 1 } },
      { route: "shop.order.list", params: { limit: 1 } },
    ],
  });
  expect(summary).toEqual({ total: 4, succeeded: 2, failed: 2 });
  expect(results.map((result) => (result.ok ? result.data.content : result.error.code))).toEqual([
    "Press the green button.",
    "NOT_FOUND",
    "INVALID_PARAMS",
    { orders: [{ id: 0 }] },
  ]);
  const [, lost, wrong] = results;
  if (lost?.ok || wrong?.ok) throw results;
  expect(lost?.error.details.nearest).toContain("shop://tools/order/list");
  expect(lost?.error.helpPath).toBe("shop.order");
  expect(wrong?.error.details).toMatchObject({ schema: { required: ["year"] } });
});

test("routes are read as models send them", async () => {
  const gateway = createGateway({ domains: createShop().domains, principal: reader });
  const one = { orders: [{ id: 0 }] };
  for (const request of [
    { route: "shop.order.list", args: { limit: 1 } },
    { op: "shop.order.list", arguments: '{"limit":1}' },
    { route: "shop.order.list", limit: 1 },
    { route: "shop.order.list", params: null, limit: 1 },
    { path: "shop.order.list", params: { limit: 1 }, args: null },
  ]) {
    const { results } = await gateway.get({ routes: [request] as never });
    expect(results, JSON.stringify(request)).toMatchObject([{ ok: true, data: { content: one } }]);
  }
  const { text } = await gateway.get({ routes: [{ params: {} }] as never });
  expect(text).toBe(
    "INVALID_INPUT: The input of get is invalid: routes.0.route is required. Correct the named fields and call again.\nhelp: root",
  );
});

verifies("get:reads-only", "a writing tool is refused, and the answer names the tool to use", async () => {
  const { domains, calls } = createShop();
  const gateway = createGateway({ domains, principal: clerk });
  const { results } = await gateway.get({
    routes: [{ route: "shop.order.create", params: { customer: "c" } }],
  });
  expect(results[0]).toMatchObject({
    ok: false,
    error: { code: "ACCESS_DENIED", helpPath: "shop.order.create" },
  });
  expect(calls.made).toEqual([]);
});

verifies(
  "guidance:dropped",
  "guidance shows only what the caller may see, with signature and params",
  async () => {
    const gateway = createGateway({ domains: createShop().domains });
    const guide = { routes: [{ route: "shop://tools/clerk-guide" }] };
    const forReader = await gateway.get(guide, { principal: reader });
    const forAuditor = await gateway.get(guide, { principal: auditor });
    const routesOf = ({ results }: typeof forReader) =>
      results.flatMap((result) => (result.ok ? result.data.guidance.map((step) => step.route) : []));
    expect(routesOf(forReader)).toEqual(["shop://tools/hidden/ledger"]);
    expect(routesOf(forAuditor)).toEqual(["shop://tools/hidden/ledger", "audit://tools/report"]);
    expect(JSON.stringify(forReader)).not.toContain("audit");
    expect(forReader.results[0]).toMatchObject({
      data: { guidance: [{ params: { year: 2026 }, signature: "(year: int)", lane: "read" }] },
    });
  },
);

function returning(value: unknown) {
  const tool = defineTool({ name: "big", description: "Gives a large result.", execute: () => value });
  return createGateway({
    domains: [defineDomain({ name: "lab", description: "For tests.", tools: [tool] })],
  });
}

verifies("results:nothing-lost", "whole items are shown, and the handle reads the rest", async () => {
  const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, name: `row ${id}`, even: id % 2 === 0 }));
  const gateway = returning({ rows });
  const { results, text } = await gateway.get({ routes: [{ route: "lab.big" }] });
  expect(countTokens(text)).toBeLessThan(4_200);
  const [result] = results;
  if (!result?.ok || !result.data.stored) throw results;
  const shown = (result.data.content as { rows: unknown[] }).rows;
  expect(shown.length).toBeGreaterThan(10);
  expect(shown).toEqual(rows.slice(0, shown.length));

  const { handle } = result.data.stored;
  const read = async (params: Record<string, unknown>) => {
    const { results: pages } = await gateway.get({ routes: [{ route: handle, params }] });
    return pages[0]?.ok ? pages[0].data.content : pages[0]?.error;
  };
  expect(await read({ path: "/rows", offset: 4_998, limit: 5 })).toEqual(rows.slice(4_998));
  expect(await read({ path: "$.rows[?@.id == 77].name" })).toEqual(["row 77"]);
  expect(await read({ path: "/rows", grep: "row 12\\d\\d", count: true })).toEqual({ count: 100 });
  expect(await read({ path: "/rows", fields: ["name"], limit: 1 })).toEqual([{ name: "row 0" }]);
  expect(await read({ path: "/nope" })).toMatchObject({ code: "INVALID_INPUT" });
  expect(await read({ path: "$.rows[?match(@.name, '(a+)+')]" })).toMatchObject({ code: "INVALID_INPUT" });
  expect(await read({ paht: "/rows" })).toMatchObject({ code: "INVALID_INPUT" });

  const pages: unknown[] = [];
  for (let offset = 0; offset < rows.length; offset += 100) {
    pages.push(...((await read({ path: "/rows", offset, limit: 100 })) as unknown[]));
  }
  expect(pages).toEqual(rows);
});

verifies("results:nothing-lost", "50 MB of text is previewed by its first lines and kept whole", async () => {
  const line = `${"x".repeat(99)}\n`;
  const gateway = returning(line.repeat(500_000));
  const { results, text } = await gateway.get({ routes: [{ route: "lab.big" }] });
  expect(countTokens(text)).toBeLessThan(4_200);
  const [result] = results;
  if (!result?.ok || !result.data.stored) throw results;
  expect(result.data.stored.chars).toBe(50_000_002);
  expect((result.data.content as string).split("\n").every((shown) => shown.length === 99)).toBe(true);
  const tail = await gateway.get({
    routes: [{ route: result.data.stored.handle, params: { offset: 499_999 } }],
  });
  expect(tail.results[0]).toMatchObject({ ok: true, data: { content: line } });
});

verifies("handles:bound", "another principal's handle is as unknown as a made-up one", async () => {
  const gateway = returning("word ".repeat(100_000));
  const { results } = await gateway.get({ routes: [{ route: "lab.big" }] }, { principal: clerk });
  const stored = results[0]?.ok ? results[0].data.stored : undefined;
  const readAs = async (route: string, principal: typeof clerk) => {
    const answer = await gateway.get({ routes: [{ route, params: { count: true } }] }, { principal });
    return answer.results[0];
  };
  expect(await readAs(stored?.handle ?? "", clerk)).toMatchObject({ ok: true });
  const foreign = await readAs(stored?.handle ?? "", reader);
  const madeUp = await readAs("result://made-up", reader);
  expect(foreign).toMatchObject({ ok: false, error: { code: "UNKNOWN_HANDLE" } });
  const blank = (result: typeof foreign) => JSON.stringify(result).replaceAll(/result:\/\/[\w-]+/g, "");
  expect(blank(foreign)).toBe(blank(madeUp));

  const { session } = await gateway.ask({ query: "big", session: "new" }, { principal: clerk });
  const stolen = await gateway.ask({ query: "big", session }, { principal: reader });
  expect(stolen).toMatchObject({ ok: false, error: { code: "UNKNOWN_HANDLE" } });
});
