import { createGateway, createToolbox, type Surface } from "keyhole";
import { expect, test } from "vitest";
import { z } from "zod";
import { fromJsonNames, inJson, toJsonNames, toJsonPath } from "../src/core/nouns/json-form.ts";
import { OPERATIONS } from "../src/core/operations/operations.ts";
import { clerk, createShop } from "./shop.ts";

const part = z.object({ dryRun: inJson("dry_run", z.boolean().optional()), args: z.unknown() });
const schema = z.object({ parts: z.array(part).optional(), either: z.union([part, z.string()]).optional() });

test("fields are spelt by the schema, and data of tools stays as it is", () => {
  const value = { parts: [{ dryRun: true, args: { dryRun: 1, dry_run: 2 } }], either: { dryRun: false } };
  const json = { parts: [{ dry_run: true, args: { dryRun: 1, dry_run: 2 } }], either: { dry_run: false } };
  expect(toJsonNames(schema, value)).toEqual(json);
  expect(fromJsonNames(schema, json)).toEqual(value);
  expect(fromJsonNames(schema, value)).toEqual(value);
  expect(fromJsonNames(schema, { either: { dry_run: null, dryRun: true } })).toEqual({
    either: { dryRun: true },
  });
  expect(toJsonPath(schema, ["parts", 0, "dryRun"])).toEqual(["parts", 0, "dry_run"]);
});

test("TypeScript has no field with an underscore, in inputs and in answers", () => {
  const names = Object.values(OPERATIONS).flatMap(({ input, output }) =>
    [input, output].flatMap(
      (each) => JSON.stringify(z.toJSONSchema(each, { unrepresentable: "any" })).match(/"\w+_\w+":/g) ?? [],
    ),
  );
  expect(names).toEqual([]);
});

test.each<[Surface, string, object, object]>([
  ["lanes", "exec", { op: "shop.order.delete", args: { id: 1 }, dry_run: true }, { meta: { dry_run: true } }],
  [
    "lanes",
    "exec",
    { op: "shop.order.create", args: {} },
    { error: { details: { field_errors: [{}] }, help_path: "shop.order.create" } },
  ],
  [
    "lanes",
    "exec",
    { op: "shop.order.list", dry_run: "x" },
    { error: { message: expect.stringContaining("dry_run") } },
  ],
  [
    "routes",
    "get",
    { routes: ["shop.order.list"] },
    { results: [{ success: true }], summary: { total: 1, success: 1 } },
  ],
  [
    "routes",
    "get",
    { routes: ["shop.order.lost"] },
    { results: [{ success: false, error: { help_path: "shop.order" } }] },
  ],
  [
    "commands",
    "tool_batch",
    { requests: [{ exec: { op: "shop.order.delete", args: { id: 1 }, dry_run: true } }] },
    { results: [{ exec: { meta: { dry_run: true, trace_id: expect.any(String) } } }] },
  ],
  ["commands", "tool_help", { path: "shop.order.list", include_schemas: true }, { schema: {} }],
])("on %s, %s reads and writes the names of JSON", async (surface, name, input, data) => {
  const gateway = createGateway({ domains: createShop().domains, principal: clerk });
  const toolbox = await createToolbox(gateway, { surface });
  expect((await toolbox.call(name, input)).data).toMatchObject(data);
  expect(JSON.stringify(toolbox.tools)).not.toMatch(/dryRun|idempotencyKey|includeExamples/);
  await gateway.close();
});

test("call runs an operation by its name, and read loads one route", async () => {
  const gateway = createGateway({ domains: createShop().domains, principal: clerk });
  const [called, got] = [
    await gateway.call("get", { routes: [{ route: "shop.order.list" }] }),
    await gateway.read("shop.order.list"),
  ];
  expect(got).toMatchObject({
    ok: true,
    text: called.text,
    content: called.results[0]?.ok && called.results[0].data.content,
  });
  expect(await gateway.read("shop.order.lost")).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
  expect(await gateway.read("shop.order.list", { params: { state: "x" } })).toMatchObject({
    error: { code: "INVALID_PARAMS" },
  });
  await gateway.close();
});
