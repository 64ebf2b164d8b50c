import { setTimeout as sleep } from "node:timers/promises";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { expect, test } from "vitest";
import { z } from "zod";
import { verifies } from "./claims.ts";
import { clerk, createShop } from "./shop.ts";

verifies(
  "batch:references",
  "requests refer to results by index and id, in order and in parallel",
  async () => {
    for (const mode of ["ordered", "parallel"] as const) {
      const { domains, calls } = createShop();
      const gateway = createGateway({ domains, principal: clerk });
      const { results, summary } = await gateway.batch({
        mode,
        requests: [
          { help: { path: "shop.order.create" } },
          { id: "made", exec: { op: "shop.order.create", args: { customer: "c1" } } },
          {
            exec: {
              op: "shop.order.create",
              args: { customer: { $result: "made", path: "/customer" }, count: 2 },
            },
          },
          {
            exec: {
              op: "shop.order.create",
              args: { customer: { $result: 2, path: "/customer" }, count: 3 },
            },
          },
        ],
      });
      expect(summary).toEqual({ total: 4, succeeded: 4, failed: 0 });
      expect(results[0]).toHaveProperty("help.usage");
      expect(calls.made.map(({ params }) => params)).toEqual([
        { customer: "c1" },
        { customer: "c1", count: 2 },
        { customer: "c1", count: 3 },
      ]);
    }
  },
);

verifies(
  "batch:references",
  "references to unknown, later or failed requests and to missing paths are refused",
  async () => {
    const { domains, calls } = createShop();
    const gateway = createGateway({ domains, principal: clerk });
    const create = ($result: number | string, path = "/customer") => ({
      exec: { op: "shop.order.create", args: { customer: { $result, path } } },
    });
    const { results, summary } = await gateway.batch({
      requests: [
        { exec: { op: "shop.order.nope" } },
        create(0),
        create(7),
        create("none"),
        { id: "ok", exec: { op: "shop.order.create", args: { customer: "c" } } },
        create("ok", "/missing"),
        create(6),
      ],
    });
    expect(summary).toMatchObject({ succeeded: 1, failed: 6 });
    expect(results.map((result) => ("error" in result ? result.error.code : "exec"))).toEqual([
      "exec",
      "REFERENCE_FAILED",
      "REFERENCE_FAILED",
      "REFERENCE_FAILED",
      "exec",
      "REFERENCE_FAILED",
      "REFERENCE_FAILED",
    ]);
    expect(calls.made).toHaveLength(1);
  },
);

verifies("batch:references", "references see the whole of a result that is too large to show", async () => {
  const tools = [
    defineTool({
      name: "list_rows",
      description: "Many rows.",
      execute: () => Array.from({ length: 5_000 }, (_, id) => ({ id, text: "some words to fill the row" })),
    }),
    defineTool({
      name: "get_row",
      description: "One row.",
      inputSchema: z.object({ id: z.int() }),
      execute: ({ id }) => id,
    }),
  ];
  const gateway = createGateway({ domains: [defineDomain({ name: "db", description: "Rows.", tools })] });
  const { results } = await gateway.batch({
    requests: [
      { exec: { op: "db.row.list" } },
      { exec: { op: "db.row.get", args: { id: { $result: 0, path: "/4999/id" } } } },
    ],
  });
  expect(results[1]).toMatchObject({ exec: { ok: true, result: 4_999 } });
});

verifies("batch:limit", "10,000 requests are refused with the limit, and none runs", async () => {
  const { domains, calls } = createShop();
  const gateway = createGateway({ domains, principal: clerk });
  const requests = Array.from({ length: 10_000 }, () => ({
    exec: { op: "shop.order.create", args: { customer: "c" } },
  }));
  expect(await gateway.batch({ requests })).toMatchObject({
    ok: false,
    error: {
      code: "LIMIT_EXCEEDED",
      message: expect.stringMatching(/10000.*100/),
    },
  });
  expect(calls.made).toEqual([]);
});

test("parallel mode keeps to the concurrency limit", async () => {
  let running = 0;
  let most = 0;
  const tool = defineTool({
    name: "wait",
    description: "Waits.",
    execute: async () => {
      most = Math.max(most, ++running);
      await sleep(5);
      running--;
    },
  });
  const domains = [defineDomain({ name: "lab", description: "For tests.", tools: [tool] })];
  const gateway = createGateway({ domains, limits: { concurrency: 3 } });
  const requests = Array.from({ length: 12 }, () => ({ exec: { op: "lab.wait" } }));
  await gateway.batch({ requests, mode: "parallel" });
  expect(most).toBe(3);
  most = 0;
  await gateway.batch({ requests });
  expect(most).toBe(1);
});
