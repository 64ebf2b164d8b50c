import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway, createToolbox, defineDomain, defineTool } from "keyhole";
import { createEmbeddedIndex } from "keyhole/search";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { toResultType } from "../src/base/json-schema/signature.ts";
import type { Entry } from "../src/core/nouns/entry.ts";
import { ObservedShapes } from "../src/core/storage/observed-shapes.ts";
import { temporaryFolder } from "./temporary-folder.ts";

let orders: unknown = {
  items: [
    { id: 1, note: null },
    { id: 2, note: "private words", total: 3.5 },
  ],
  next: null,
};
const shop = defineDomain({
  name: "shop",
  description: "A shop.",
  tools: [
    defineTool({ name: "list_orders", description: "List orders.", execute: () => orders }),
    defineTool({
      name: "count_orders",
      description: "Count orders.",
      outputSchema: z.object({ count: z.number() }),
      execute: () => ({ count: 2 }),
    }),
  ],
});
const principal = { id: "ann", scopes: [], allowWrite: false };
const gateway = createGateway({ domains: [shop], principal, index: createEmbeddedIndex() });
afterAll(() => gateway.close());
const SHAPE = "{ items: { id: number, note: null|string, total?: number }[], next: null }";

test("help tells the type of results: declared, or observed and marked so", async () => {
  expect((await gateway.help({ path: "shop.orders.count" })).text).toContain("Returns { count: number }");
  expect((await gateway.help({ path: "shop.order.list" })).text).not.toContain("Returns");
  await gateway.exec({ op: "shop.order.list" });
  const { text } = await gateway.help({ path: "shop.order.list" });
  expect(text).toContain(`Returns ${SHAPE} (observed)`);
  expect(text).not.toContain("private");
});

test("ask tells it to callers that write scripts, and costs the others nothing", async () => {
  const code = await createToolbox(gateway, { surface: "code" });
  expect((await code.call("ask", { query: "list orders" })).text).toContain(`list() => ${SHAPE} (observed)`);
  const lanes = await createToolbox(gateway);
  expect((await lanes.call("ask", { query: "list orders" })).text).not.toContain("=>");
});

test("callers with other scopes see no observations", async () => {
  const other = { id: "bob", scopes: ["x"], allowWrite: false };
  expect((await gateway.help({ path: "shop.order.list" }, { principal: other })).text).not.toContain(
    "Returns",
  );
});

test("T13: fields of one principal's results are told to no other, for they may be values", async () => {
  const other = { ...principal, id: "bob" };
  expect((await gateway.help({ path: "shop.order.list" }, { principal: other })).text).not.toContain(
    "Returns",
  );
});

test("later results widen the shape", async () => {
  orders = { items: [], next: "page 2", error: { code: 1 } };
  await gateway.exec({ op: "shop.order.list" });
  const { text } = await gateway.help({ path: "shop.order.list" });
  expect(text).toContain("next: null|string, error?: { code: number }");
});

test("keys that are values are not kept, and shapes stay small", () => {
  const shapes = new ObservedShapes();
  const caller = { scopeKey: "[]", principal };
  const entry = { kind: "tool", op: "a.b", description: "", inputSchema: {} } as unknown as Entry;
  const shapeOf = (...values: unknown[]) => {
    const tool = { ...entry, op: `a.${values.length}.${Math.random()}` };
    for (const value of values) shapes.note(caller, tool, value);
    return shapes.of(caller, tool)!;
  };
  expect(toResultType(shapeOf({ "ann@example.com": 1, "bob@example.com": 2 }), 200)).toBe(
    "{ [key]: number }",
  );
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`field_${at}`, at]));
  expect(JSON.stringify(shapeOf(wide)).length).toBeLessThan(100);
  let deep: unknown = 1;
  for (let level = 0; level < 1_000; level++) deep = { deep };
  expect(JSON.stringify(shapeOf(deep)).length).toBeLessThan(1_000);
  const many = Array.from({ length: 30 }, (_, at) => ({ [`only_${at}`]: at }));
  expect(toResultType(shapeOf(...many), 40).length).toBeLessThanOrEqual(40);
  expect(toResultType(shapeOf("text", 1, null, [], ["a"], [1]), 200)).toBe(
    "string|number|null|(string|number)[]",
  );
});

test("T13: a caller with many tools pushes out no shape of another", () => {
  const shapes = new ObservedShapes();
  const [ann, mallory] = ["ann", "mallory"].map((id) => ({
    scopeKey: "[]",
    principal: { ...principal, id },
  }));
  const tool = (op: string) => ({ kind: "tool", op, description: "", inputSchema: {} }) as unknown as Entry;
  shapes.note(ann!, tool("a.b"), { id: 1 });
  for (let number = 0; number < 5_000; number++) shapes.note(mallory!, tool(`m.${number}`), { id: 1 });
  expect(shapes.of(ann!, tool("a.b"))).toBeDefined();
  expect(shapes.of(mallory!, tool("m.4999"))).toBeDefined();
  expect(shapes.of(mallory!, tool("m.0"))).toBeUndefined();
});

test("a restart knows the shapes of definitions that have not changed, and never values", async () => {
  const cacheDirectory = temporaryFolder();
  const open = (description: string) => {
    const tool = defineTool({ name: "list_orders", description, execute: () => orders });
    const domain = defineDomain({ name: "shop", description: "A shop.", tools: [tool] });
    const opened = createGateway({
      domains: [domain],
      principal,
      cacheDirectory,
      index: createEmbeddedIndex(),
    });
    onTestFinished(() => opened.close());
    return opened;
  };
  orders = [{ id: 7, note: "private words" }];
  const first = open("List orders.");
  await first.exec({ op: "shop.order.list" });
  await first.close();
  const file = join(cacheDirectory, "shapes.db");
  expect(readFileSync(file, "utf8")).not.toContain("private");
  const returnsOf = async (description: string) =>
    (await open(description).help({ path: "shop.order.list" })).text.match(/Returns .*/)?.[0];
  expect(await returnsOf("List orders.")).toBe("Returns { id: number, note: string }[] (observed)");
  expect(await returnsOf("List all orders.")).toBeUndefined();
  writeFileSync(file, "damaged");
  expect(await returnsOf("List orders.")).toBeUndefined();
});
