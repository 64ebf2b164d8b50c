// A gateway in ten lines: a tool, a question, and a call whose arguments the compiler checks.
import assert from "node:assert/strict";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { z } from "zod";

const add = defineTool({
  name: "add_numbers",
  description: "Add two numbers.",
  lane: "read",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});
const math = defineDomain({ name: "math", description: "Sums.", tools: [add] });
const gateway = createGateway({ domains: [math] });

const found = await gateway.ask({ query: "what is 2 plus 3" });
assert.equal(found.hits[0]?.op, "math.numbers.add");
const sum = await gateway.exec({ op: "math.add_numbers", args: { a: 2, b: 3 } });
assert.ok(sum.ok && sum.result === 5);
console.log(found.text, "\n", sum.text);
await gateway.close();
