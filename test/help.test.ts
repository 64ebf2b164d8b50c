import { createGateway } from "keyhole";
import { expect, test } from "vitest";
import { verifies } from "./claims.ts";
import { auditor, createShop, reader } from "./shop.ts";

const gateway = createGateway({ domains: createShop().domains, principal: reader });

async function directory(path: string, principal = reader) {
  const answer = await gateway.help({ path }, { principal });
  if (answer.kind !== "directory") throw answer;
  return answer;
}

verifies(
  "help:taxonomy",
  "paths lead from the root to a group, a lane, and an op in either spelling",
  async () => {
    expect((await directory("")).groups.map((group) => group.path)).toEqual(["shop"]);
    expect((await directory("root", auditor)).groups.map((group) => group.path)).toEqual(["audit", "shop"]);
    const shop = await directory("shop");
    expect(shop.groups.map(({ path, names }) => [path, names])).toEqual([
      ["shop.order", ["create", "delete", "list"]],
      ["shop.refund", ["send"]],
      ["shop.resources", ["manual"]],
    ]);
    expect(shop.ops.map(({ op }) => op)).toEqual(["shop.clerk-guide"]);
    expect((await directory("shop.order")).ops.map(({ op }) => op)).toEqual([
      "shop.order.create",
      "shop.order.delete",
      "shop.order.list",
    ]);
    expect((await directory("shop.order.read")).ops.map(({ op }) => op)).toEqual(["shop.order.list"]);
    expect((await directory("shop.order.write")).ops).toHaveLength(2);

    const byOp = await gateway.help({ path: "shop.order.create" });
    expect(byOp).toEqual(await gateway.help({ path: "shop://tools/order/create" }));
    expect(byOp).toMatchObject({
      kind: "tool",
      summary: "Create an order for a customer.",
      usage: "shop.order.create(customer: string, count?: 1..9)",
      args: [
        { name: "customer", type: "string", required: true, description: "Customer id" },
        { name: "count", type: "1..9", required: false },
      ],
    });
  },
);

verifies("help:taxonomy", "hidden ops are described by address but listed nowhere", async () => {
  expect(await gateway.help({ path: "shop.hidden.ledger" })).toMatchObject({ path: "shop.hidden.ledger" });
  expect((await directory("shop")).text).not.toContain("hidden");
  expect(await gateway.help({ path: "shop.hidden" })).toMatchObject({
    ok: false,
    error: { code: "NOT_FOUND" },
  });
});

verifies("help:example", "an example made from the schema validates", async () => {
  const answer = await gateway.help({ path: "shop.order.delete" });
  if (answer.kind === "directory") throw answer;
  expect(answer.examples).toHaveLength(1);
  const run = await gateway.exec({
    op: "shop.order.delete",
    args: answer.examples?.[0]?.args,
    dryRun: true,
  });
  expect(run.ok).toBe(true);
});

test("format and include flags choose the content", async () => {
  const short = await gateway.help({ path: "shop.order.create", includeExamples: false });
  expect(short).not.toHaveProperty("description");
  expect(short).not.toHaveProperty("examples");
  expect(short).not.toHaveProperty("schema");
  const full = await gateway.help({ path: "shop.order.create", format: "full", includeSchemas: true });
  expect(full).toMatchObject({
    description: expect.stringContaining("Prices"),
    related: ["shop://tools/order/list"],
    schema: { required: ["customer"] },
  });
});

test("an unknown path is answered with the nearest paths", async () => {
  expect(await gateway.help({ path: "shop.ordr.create" })).toMatchObject({
    ok: false,
    error: {
      code: "NOT_FOUND",
      details: { nearest: expect.arrayContaining(["shop.order.create"]) },
    },
  });
});
