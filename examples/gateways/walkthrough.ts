// Two gateways share their state in PostgreSQL: sessions, results, keys and what was learned work on both.
import assert from "node:assert/strict";
import { PGlite } from "@electric-sql/pglite";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createPostgresState } from "keyhole/postgres";
import { heading, quote } from "../print.ts";

let charges = 0;
const shop = defineDomain({
  name: "shop",
  description: "Orders and payments.",
  tools: [
    defineTool({
      name: "list_orders",
      op: "shop.order.list",
      description: "List all orders.",
      lane: "read",
      execute: () => Array.from({ length: 2_000 }, (_, id) => ({ id, total: 10 * id })),
    }),
    defineTool({
      name: "charge_card",
      op: "shop.card.charge",
      description: "Charge a card.",
      lane: "write",
      execute: () => {
        charges += 1;
        return { charged: charges };
      },
    }),
  ],
});

// In production: a pool of `pg` on the primary, in each of the processes.
const database = new PGlite();
const principal = { id: "ann", scopes: [], allowWrite: true };

/** Each gateway has a state of its own over the same tables. */
async function openGateway() {
  const state = await createPostgresState({ client: database });
  const gateway = createGateway({ domains: [shop], principal, ...state.stores });
  const close = async () => {
    await gateway.close();
    await state.close();
  };
  return { gateway, close };
}
const [one, other] = [await openGateway(), await openGateway()];

heading("a session and a large result of one gateway, read on the other");
const listed = await one.gateway.get({ routes: [{ route: "shop.order.list" }], session: "new" });
const handle = /result:\/\/[\w-]+/.exec(listed.text)?.[0] ?? "";
const read = await other.gateway.get({
  routes: [{ route: handle, params: { path: "/1999" } }, { route: `session://${listed.session}` }],
});
assert.equal(read.summary.succeeded, 2);
quote(read.text);

heading("the same key at both gateways at the same time runs the call once");
const charge = { op: "shop.card.charge", args: {}, idempotencyKey: "order-17" };
const answers = await Promise.all([one.gateway.exec(charge), other.gateway.exec(charge)]);
assert.equal(charges, 1);
for (const answer of answers) assert.deepEqual(answer.ok && answer.result, { charged: 1 });
quote(JSON.stringify(answers.map((answer) => answer.ok && answer.result)));

heading("after one gateway has gone, the other still answers for it");
await one.close();
const again = await other.gateway.exec(charge);
assert.deepEqual(again.ok && again.result, { charged: 1 });
assert.equal(charges, 1);
quote(again.text);

await other.close();
await database.close();
