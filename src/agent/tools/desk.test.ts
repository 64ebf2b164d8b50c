import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway } from "keyhole";
import { createScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createAgent } from "../loop/agent.ts";
import type { AgentEvent } from "../loop/agent-event.ts";
import { run } from "../loop/run.ts";
import type { Ask } from "../loop/run-context.ts";
import { createPermissions } from "../permissions/permissions.ts";
import { workspaceDomain } from "../workspace/workspace-domain.ts";
import { createAgentTools } from "./agent-tools.ts";

test("the desk is discovered, and its todo list is shown as written", async () => {
  const { ask } = await setUp(
    [
      { calls: [{ name: "tool_search", args: { query: "todo list of steps" } }] },
      { calls: [{ name: "todo", args: { items: [{ text: "Look", state: "done" }, { text: "Fix" }] } }] },
      { text: "Planned." },
    ],
    { hands: ["workspace"] },
  );
  const events = await ask("Plan it");
  expect(textOf(events, "todo")).toBe("1 of 2 done\n☑ Look\n☐ Fix");
});

test("a sub-agent has a context of its own, asks through the run it works for, and has no sub-agents", async () => {
  const { ask, model, asked } = await setUp(({ messages }) => {
    const last = messages.at(-1)!;
    const isHelper = !messages.some(({ text }) => text === "Delegate it");
    if (!isHelper) {
      if (last.role === "tool") return { text: `It says: ${last.text}` };
      return { calls: [{ name: "task", args: { task: "Write the file" } }] };
    }
    if (last.text.includes("no sub-agents"))
      return { calls: [{ name: "write", args: { path: "a", text: "b" } }] };
    if (last.role === "tool") return { text: "The file is there." };
    return { calls: [{ name: "task", args: { task: "Do it for me" } }] };
  });
  const events = await ask("Delegate it");
  expect(events.at(-1)).toMatchObject({ outcome: "answered", text: "It says: The file is there." });
  expect(asked.map(({ scope }) => scope)).toEqual(["fs-write"]);
  const question = events.find(({ type }) => type === "permission-request");
  const task = events.find(({ type }) => type === "tool-start");
  expect(question).toMatchObject({ callId: (task as { callId: string }).callId });
  expect(model.requests[1]!.messages.some(({ text }) => text === "Delegate it")).toBe(false);
  // Its requests are told, because they are billed: three of the helper's.
  expect(events.filter(({ type }) => type === "llm-aside")).toHaveLength(3);
});

test("a background command runs on, shows its output, and is stopped", async () => {
  let job = 0;
  const { ask } = await setUp(
    ({ messages }) => {
      const last = messages.at(-1)!;
      if (last.role !== "tool") {
        return { calls: [{ name: "background", args: { command: "echo ready; sleep 600" } }] };
      }
      if (last.text.includes("was stopped")) return { text: "Stopped." };
      if (last.text.includes("ready"))
        return { calls: [{ name: "background", args: { job: "job-1", stop: true } }] };
      // Each look differs, so that looking again is no repetition.
      return job++ < 200
        ? {
            calls: [
              { name: "shell", args: { command: `sleep 0.05 # ${job}` } },
              { name: "background", args: { job: "job-1" } },
            ],
          }
        : { text: "Never ready." };
    },
    { limits: { steps: 300 } },
  );
  const events = await ask("Start the server");
  expect(events.at(-1)).toMatchObject({ outcome: "answered", text: "Stopped." });
});

test("a page is asked for by host, which is told if it is of this machine; metadata services are refused", async () => {
  const { ask, asked } = await setUp([
    { calls: [{ name: "fetch", args: { url: "http://127.0.0.1:9/page" } }] },
    { text: "No." },
    { calls: [{ name: "fetch", args: { url: "http://169.254.169.254/latest" } }] },
    { text: "No." },
  ]);
  const events = await ask("Read it");
  expect(asked).toMatchObject([{ scope: "web", action: "read from the web: http://127.0.0.1:9/page" }]);
  expect(asked[0]!.reason).toMatch(/this machine or one of its network. The connection is not encrypted/);
  expect(textOf(events, "fetch")).toContain("CALL_FAILED");
  expect(textOf(await ask("Read that"), "fetch")).toContain("REQUEST_REFUSED");
  expect(asked).toHaveLength(1);
});

test("a declined page says what was declined", async () => {
  const { ask } = await setUp(
    [{ calls: [{ name: "fetch", args: { url: "https://example.com/" } }] }, { text: "No." }],
    { ask: async () => ({ deny: "not this host" }) },
  );
  const events = await ask("Read it");
  expect(textOf(events, "fetch")).toContain("The person refused, and says: not this host");
});

test("a refusal with the person's words lets the model do what they say", async () => {
  const { ask } = await setUp(
    [{ calls: [{ name: "write", args: { path: "b.md", text: "text" } }] }, { text: "No." }],
    { ask: async () => ({ deny: "use c.md" }) },
  );
  const text = textOf(await ask("Write it"), "write");
  expect(text).toContain("The person refused, and says: use c.md. Do what the person says.");
  expect(text).not.toContain("another way");
});

test("a call that ends while the person is asked about it has changed nothing, and says so", async () => {
  const abort = new AbortController();
  const calls = ["b.md", "c.md"].map((path) => ({ name: "write", args: { path, text: "text" } }));
  const { agent } = await setUp([{ calls }], {
    ask: () => {
      abort.abort();
      return new Promise(() => {});
    },
  });
  const events = await Array.fromAsync(run(agent, "Write it", { signal: abort.signal }));
  const texts = events.flatMap((event) => (event.type === "tool-end" ? [event.text] : []));
  expect(texts).toEqual(Array(2).fill("The call was cancelled before it ran: it has changed nothing."));
});

test("where nobody can be asked, nobody is said to have refused", async () => {
  const { ask } = await setUp(
    [
      { calls: [{ name: "fetch", args: { url: "https://example.com/" } }] },
      { calls: [{ name: "write", args: { path: "b.md", text: "text" } }] },
      { text: "No." },
    ],
    { ask: undefined },
  );
  const events = await ask("Read and write it");
  expect(textOf(events, "fetch")).toContain("Nobody is there to ask.");
  expect(textOf(events, "write")).toContain("Nobody is there to ask.");
  expect(textOf(events, "write")).toContain("Go on without it");
  expect(JSON.stringify(events)).not.toMatch(/person (?:refused|declined)|ask the person/i);
});

test("hooks refuse calls, add to results and prompts, and see the end", async () => {
  const ended: unknown[] = [];
  const { ask, model } = await setUp(
    [
      {
        calls: [
          { name: "read", args: { path: "a.md" } },
          { name: "list", args: {} },
        ],
      },
      { text: "Well." },
    ],
    {
      hooks: {
        prompt: async (prompt: string) => `Branch: main (${prompt})`,
        beforeTool: async ({ tool }: { tool: string }) => (tool === "read" ? "not this one" : undefined),
        afterTool: async ({ tool, ok }: { tool: string; ok: boolean }) =>
          ok ? `${tool} was fine` : undefined,
        end: async (end: unknown) => void ended.push(end),
      },
    },
  );
  const events = await ask("Look");
  expect(textOf(events, "read")).toBe("A hook of the person refuses this call: not this one");
  expect(textOf(events, "list")).toContain("[A hook of the person says: list was fine]");
  expect(model.requests[0]!.messages.at(-1)!.text).toBe("Look\nBranch: main (Look)");
  expect(ended).toEqual([{ outcome: "answered", text: "Well." }]);
});

async function setUp(script: Parameters<typeof createScriptedModel>[0], more: object = {}) {
  const root = temporaryFolder();
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "a.md"), "text\n");
  const asked: { scope: string; action: string; reason: string }[] = [];
  const permissions = createPermissions({ root });
  const desk = createAgentTools({ permissions });
  const gateway = createGateway({
    domains: [workspaceDomain({ permissions }), desk.domain],
    principal: { id: "me", scopes: [], allowWrite: true },
  });
  onTestFinished(async () => {
    await desk.close();
    await gateway.close();
  });
  const model = createScriptedModel(script);
  const answer: Ask = async ({ scope, action, reason }) => {
    asked.push({ scope, action, reason });
    return "session";
  };
  const agent = createAgent({
    gateway,
    model,
    ask: answer,
    hands: ["workspace", "desk"],
    ...more,
  });
  desk.use(agent);
  const ask = async (prompt: string) => {
    const events: AgentEvent[] = [];
    for await (const event of run(agent, prompt)) events.push(event);
    return events;
  };
  return { ask, agent, model, asked };
}

function textOf(events: readonly AgentEvent[], tool: string): string | undefined {
  const ended = events.findLast((event) => event.type === "tool-end" && event.tool === tool);
  return ended?.type === "tool-end" ? ended.text : undefined;
}
