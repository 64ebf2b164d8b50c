// MCP servers behind the AI SDK: the model starts with one tool and finds those of the servers as it needs them.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { generateText, isStepCount } from "ai";
import { createGateway } from "keyhole";
import { toAISDKTools } from "keyhole/ai-sdk";
import { createMcpSource } from "keyhole/sources";
import { createScriptedModel } from "keyhole/testing";

const args = [fileURLToPath(new URL("../upstream/tasks-server.ts", import.meta.url))];
const tasks = createMcpSource("tasks", { command: process.execPath, args }, { trusted: true });
const gateway = createGateway({ sources: [tasks], principal: { id: "me", scopes: [], allowWrite: true } });
// A script plays the model. Put your own in its place: anthropic("claude-sonnet-4-5"), openai("gpt-5").
const model = createScriptedModel([
  { calls: [{ name: "tool_search", args: { query: "write down something to do" } }] },
  { calls: [{ name: "add_task", args: { title: "Water the plants" } }] },
  { text: "It is on the list." },
]);
const { session, ...turn } = await toAISDKTools(gateway);
const { text } = await generateText({ ...turn, model, prompt: "Remind me!", stopWhen: isStepCount(5) });
assert.equal(text, "It is on the list.");
assert.deepEqual(model.requests[0]?.tools, ["tool_search"]);
assert.match((await gateway.exec({ op: "tasks.list_tasks", session })).text, /Water the plants/);
await gateway.close();
