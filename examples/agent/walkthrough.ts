// An agent on a gateway: it finds tools, asks before destructive calls, and resumes a stored conversation.
// The model is a script here; replace it with your own.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway } from "keyhole";
import { createAgent, createSessionLogs, run } from "keyhole/agent";
import { createScriptedModel } from "keyhole/testing";
import { createCms } from "../cms/cms.ts";

const folder = mkdtempSync(join(tmpdir(), "keyhole-agent-"));
const cms = createCms();
const gateway = createGateway({
  domains: [cms.domain],
  principal: { id: "ed", scopes: [], allowWrite: true },
});
const model = createScriptedModel([
  { calls: [{ name: "tool_search", args: { query: "delete page" } }] },
  { calls: [{ name: "cms_deletePage", args: { page: "press" } }] },
  { text: "The press page is gone." },
  { text: "You asked me to delete the press page." },
]);
const agent = createAgent({
  gateway,
  model,
  limits: { steps: 10 },
  sessions: createSessionLogs({ path: join(folder, "sessions") }),
  // In an application, a person decides here.
  ask: async ({ action }) => {
    console.log(`  allowed once: ${action}`);
    return "once";
  },
});

const session = await agent.openSession();
for await (const event of run(agent, "Delete the press page", { session })) {
  if (event.type === "tool-start") console.log(`  ${event.tool} ${JSON.stringify(event.args)}`);
  if (event.type === "agent-end") {
    assert.equal(event.outcome, "answered");
    console.log(event.text);
  }
}
await session.end();

const resumed = await agent.openSession({ resume: "last" });
assert.equal(resumed.id, session.id);
for await (const event of run(agent, "What did I ask for?", { session: resumed })) {
  if (event.type === "notice") console.log(`  ${event.text}`);
  if (event.type === "agent-end") console.log(event.text);
}
assert.ok(model.requests.at(-1)?.messages.some(({ text }) => text === "Delete the press page"));

await resumed.end();
await gateway.close();
await cms.close();
rmSync(folder, { recursive: true });
