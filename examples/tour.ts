// A first look, run by `npm start`: what a model is shown, and how it gets from there to a tool.
import assert from "node:assert/strict";
import { createGateway, loadTokenCounter } from "keyhole";
import { createOnto } from "./onto/onto.ts";
import { heading, quote } from "./print.ts";
import { createWarehouse } from "./warehouse/warehouse.ts";

const onto = createOnto();
const warehouse = createWarehouse();
const gateway = createGateway({
  domains: [...warehouse.domains, ...onto.domains],
  principal: { id: "visitor", scopes: ["internal", "support"], allowWrite: false },
});

const countTokens = await loadTokenCounter();

console.log("Keyhole shows a model a few tools and unveils the rest when the work calls for it.");

heading("The menu: all that a model is shown at the start");
const menu = await gateway.menu();
for (const { name, description } of menu) quote(`${name}: ${description}`);

const tools = Object.values(gateway.registry().ops);
const listed = tools.map(({ op, description, parameters_schema }) => ({
  name: op,
  description,
  inputSchema: parameters_schema,
}));
console.log(`\nThe menu costs ${tokens(menu)} tokens, and never more than 900 however much is behind it.`);
console.log(`Listing the ${tools.length} tools of this small example would cost ${tokens(listed)}.`);
assert.ok(tokens(menu) <= 900 && tokens(menu) < tokens(listed));

heading('ask: "investigate fraud"');
const found = await gateway.ask({ query: "investigate fraud" });
quote(found.text);
assert.doesNotMatch(found.text, /hidden/);

heading("get: an entry point, which unveils tools that ask does not show");
const guide = await gateway.get({
  routes: [{ route: "warehouse://tools/analyst", params: { query: "fraud" } }],
});
quote(guide.text);
assert.match(guide.text, /warehouse:\/\/tools\/hidden\/query/);

heading("help: one tool, as a model reads it before the first call");
const help = await gateway.help({ path: "onto.document.tree.move" });
quote(help.text);

await gateway.close();
await onto.close();
await warehouse.close();

heading("Try next");
console.log(`  npm run example examples/warehouse/walkthrough.ts    from a question to a conclusion, over four domains
  npm run example examples/onto/walkthrough.ts         reading, writing, refusals, dry runs and batches
  docs/guide.md                                        how to define domains of your own
  docs/problems.md                                     every problem, with its next step`);

function tokens(value: unknown): number {
  return countTokens(JSON.stringify(value));
}
