// A script over tools: a dry run makes a plan, a person approves it as a whole, and exactly its effects take place.
import assert from "node:assert/strict";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { z } from "zod";

const orders = new Map([10, 40, 90].map((total, id) => [id, { id, total }]));
const list = defineTool({
  name: "list_orders",
  description: "List all orders.",
  execute: () => ({ orders: [...orders.values()] }),
});
const remove = defineTool({
  name: "delete_order",
  description: "Delete an order.",
  inputSchema: z.object({ id: z.int() }),
  execute: ({ id }) => ({ deleted: orders.delete(id) }),
  dryRun: ({ id }) => ({ would_delete: id }),
});
const shop = defineDomain({ name: "shop", description: "Orders of a shop.", tools: [list, remove] });
const principal = { id: "ann", scopes: [], allowWrite: true };
const gateway = createGateway({ domains: [shop], principal });

const code = `
  const { orders } = await tools.shop.order.list();
  for (const { id, total } of orders) if (total < params.least) await tools.shop.order.delete({ id });`;
const dry = await gateway.run({ code, params: { least: 50 }, dryRun: true });
assert.ok(dry.plan && orders.size === 3);
console.log(dry.text);

// The question has the hash of the plan, and every effect with its arguments.
const handle = dry.plan.handle;
const done = await gateway.run({ plan: handle }, { approve: ({ hash }) => hash === dry.plan?.hash });
assert.ok(done.ok);
assert.deepEqual([...orders.keys()], [2]);
console.log(done.text);
await gateway.close();
