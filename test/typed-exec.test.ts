import { createGateway, defineDomain, defineTool, type Gateway } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

const add = defineTool({
  name: "add_numbers",
  description: "Add two numbers.",
  inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
  execute: ({ a, b }) => a + b,
});
const ping = defineTool({ name: "ping", op: "math.line.ping", description: "Ping.", execute: () => "pong" });
const half = defineTool({
  name: "halve",
  description: "Halve a number.",
  inputSchema: { type: "object", properties: { of: { type: "number" } }, required: ["of"] },
  execute: ({ of }) => of / 2,
});
const math = defineDomain({ name: "math", description: "Sums.", tools: [add, ping, half] });

test("exec knows the ops and the args of tools in code", async () => {
  const gateway = createGateway({ domains: [math], principal: { id: "me", scopes: [], allowWrite: true } });
  const sum = await gateway.exec({ op: "math.add_numbers", args: { a: 1 } });
  expect(sum).toMatchObject({ ok: true, result: 2 });
  expect(await gateway.exec({ op: "math.line.ping" })).toMatchObject({ ok: true, result: "pong" });
  expect(await gateway.exec({ op: "math.halve", args: { of: 3 } })).toMatchObject({ result: 1.5 });
  // @ts-expect-error: a is a number.
  await gateway.exec({ op: "math.add_numbers", args: { a: "1" } });
  // @ts-expect-error: a is required.
  await gateway.exec({ op: "math.add_numbers" });
  // @ts-expect-error: of is a number.
  await gateway.exec({ op: "math.halve", args: { of: true } });
  expectTypeOf(gateway).toExtend<Gateway>();
  await createMcpServer(gateway).close();
  await gateway.close();
});

test("exec takes any op and args where the catalog is not known in code", async () => {
  const gateway: Gateway = createGateway({ domains: [math] });
  const op: string = "math.numbers.add";
  expect((await gateway.exec({ op, args: { a: 1 } })).ok).toBe(false);
  expect((await gateway.exec({ route: "math://tools/numbers/add", args: { a: 1 } })).ok).toBe(false);
  await gateway.close();
  const other = createGateway({ domains: [math] });
  await other.exec({ op: "math.numbers.add", args: { a: "1" } });
  await other.exec({ op, args: 5 });
  await other.close();
});
