// A test with the testing kit: a script plays the model, and the test says what the model was shown and what it did.
// The assertions stand alone here; put them into `test(…)` of your runner.
import assert from "node:assert/strict";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createAgent, run } from "keyhole/agent";
import { createScriptedModel } from "keyhole/testing";
import { z } from "zod";

const lit = new Set<string>();
const light = defineTool({
  name: "turn_on_light",
  description: "Turn on the light of a room.",
  lane: "write",
  inputSchema: z.object({ room: z.string() }),
  execute: ({ room }) => `${lit.add(room).size} lights are on.`,
});
const house = defineDomain({ name: "house", description: "Lights.", tools: [light] });
const gateway = createGateway({ domains: [house], principal: { id: "ann", scopes: [], allowWrite: true } });

const model = createScriptedModel([
  { calls: [{ name: "tool_search", args: { query: "light" } }] },
  { calls: [{ name: "turn_on_light", args: { room: "kitchen" } }] },
  { text: "Done." },
]);
const agent = createAgent({ gateway, model, ask: async () => "once" });
const events = [];
for await (const event of run(agent, "Light in the kitchen, please")) events.push(event);

assert.deepEqual(model.requests[0]?.tools, ["tool_search"]);
assert.deepEqual([...lit], ["kitchen"]);
assert.equal(events.at(-1)?.type, "agent-end");
console.log(model.requests.map(({ tools }) => tools.join(", ")).join("\n"));
await gateway.close();
