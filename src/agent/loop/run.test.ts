import { createGateway, defineDomain, defineTool } from "keyhole";
import { createScriptedModel, type ModelScript } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createPermissions } from "../permissions/permissions.ts";
import { type AgentOptions, createAgent } from "./agent.ts";
import type { AgentEvent } from "./agent-event.ts";
import { type RunOptions, run } from "./run.ts";

const owner = { id: "owner", scopes: [], allowWrite: true };

interface Shop {
  readonly started: string[];
  readonly removed: string[];
  release(): void;
}

function openShop(script: ModelScript, options: Partial<AgentOptions> = {}) {
  const gate = Promise.withResolvers<void>();
  const shop: Shop = { started: [], removed: [], release: gate.resolve };
  const tool = (
    name: string,
    lane: "read" | "write" | "destructive",
    execute: (args: { id: string }) => unknown,
  ) =>
    defineTool({
      name,
      op: `shop.order.${name}`,
      description: `${name} an order of the shop`,
      lane,
      inputSchema: z.object({ id: z.string() }),
      execute: async (args) => execute(args),
    });
  const domain = defineDomain({
    name: "shop",
    description: "Orders of a shop",
    tools: [
      tool("read", "read", ({ id }) => ({ id, state: "sent" })),
      tool("wait", "read", async ({ id }) => {
        shop.started.push(id);
        if (shop.started.length === 2) gate.resolve();
        await gate.promise;
        return id;
      }),
      tool("note", "write", ({ id }) => ({ noted: id })),
      tool("remove", "destructive", ({ id }) => {
        shop.removed.push(id);
        return { removed: id };
      }),
    ],
  });
  const gateway = createGateway({ domains: [domain], principal: owner });
  onTestFinished(() => gateway.close());
  const model = createScriptedModel(script);
  return { shop, gateway, model, agent: createAgent({ gateway, model, mode: "fixed", ...options }) };
}

const exec = (op: string, args: object, more = {}) => ({ name: "exec", args: { op, args, ...more } });
const get = (op: string, args: object) => ({ name: "get", args: { routes: [{ route: op, params: args }] } });

async function all(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

const endOf = (events: readonly AgentEvent[]) => {
  const last = events.at(-1);
  if (last?.type !== "agent-end") return expect.unreachable("it ends with agent-end");
  return last;
};
const typesOf = (events: readonly AgentEvent[]) =>
  events.map(({ type }) => type).filter((type) => type !== "llm-text");

test("a run yields its events in order, with usage and one trace", async () => {
  const { agent, model } = openShop([
    { calls: [get("shop.order.read", { id: "o1" })], usage: { input: 10, output: 2, cached: 4 } },
    { text: "It was sent.", usage: { input: 20, output: 3 } },
  ]);
  const events = await all(run(agent, "Where is o1?"));
  expect(typesOf(events)).toEqual([
    "agent-start",
    "llm-start",
    "llm-end",
    "tool-start",
    "tool-end",
    "llm-start",
    "llm-end",
    "agent-end",
  ]);
  expect(endOf(events)).toMatchObject({
    outcome: "answered",
    text: "It was sent.",
    steps: 2,
    usage: { input: 30, output: 5, cached: 4 },
  });
  expect(events.find(({ type }) => type === "tool-end")).toMatchObject({ ok: true, tool: "get" });
  expect(new Set(events.map(({ span }) => span.traceId)).size).toBe(1);
  const root = events[0]!.span.spanId;
  const inner = events.filter(({ type }) => !type.startsWith("agent-"));
  expect(inner.every(({ span }) => span.parentSpanId === root)).toBe(true);
  expect(model.requests[1]?.messages.at(-1)?.text).toContain("sent");
});

test("calls of one step run in parallel", async () => {
  const { agent, shop } = openShop([
    { calls: [get("shop.order.wait", { id: "a" }), get("shop.order.wait", { id: "b" })] },
    { text: "Both." },
  ]);
  const events = await all(run(agent, "both"));
  expect(shop.started.sort()).toEqual(["a", "b"]);
  expect(endOf(events).outcome).toBe("answered");
});

test("messages that the person sends during a run reach the model after the tools, one by one", async () => {
  const { agent, model } = openShop([
    { calls: [get("shop.order.read", { id: "o1" })] },
    { text: "It was sent, and so was o2." },
  ]);
  const queue = [[{ prompt: "Look at o2 too." }, { prompt: "@a with its text", typed: "@a" }], []];
  const events = await all(run(agent, "Where is o1?", { steer: async () => queue.shift() ?? [] }));
  expect(model.requests[0]?.messages.at(-1)?.text).toBe("Where is o1?");
  expect(model.requests[1]?.messages.slice(-3)).toMatchObject([
    { role: "tool" },
    { role: "user", text: "Look at o2 too." },
    { role: "user", text: "@a with its text" },
  ]);
  const told = events.flatMap((event) => (event.type === "user-message" ? [event.text] : []));
  expect(told).toEqual(["Look at o2 too.", "@a"]);
});

test("steps and tokens are limited", async () => {
  const endless: ModelScript = (_, turn) => ({
    calls: [get("shop.order.read", { id: `o${turn}` })],
    usage: { input: 100, output: 1 },
  });
  const steps = await all(run(openShop(endless, { limits: { steps: 3 } }).agent, "go"));
  expect(endOf(steps)).toMatchObject({ outcome: "step-limit", steps: 3 });
  const tokens = await all(run(openShop(endless, { limits: { tokens: 200 } }).agent, "go"));
  expect(endOf(tokens)).toMatchObject({ outcome: "token-limit", steps: 2 });
});

test("a model that repeats a call is warned, then stopped", async () => {
  const stuck: ModelScript = () => ({ calls: [get("shop.order.read", { id: "o1" })] });
  const { agent, model } = openShop(stuck, { limits: { sameCalls: 2 } });
  const events = await all(run(agent, "go"));
  expect(endOf(events)).toMatchObject({ outcome: "repeating", steps: 4 });
  expect(model.requests.at(-1)?.messages.at(-1)?.text).toContain("Do something else");
});

test("alternating calls that make progress are not stopped", async () => {
  const script: ModelScript = (_, turn) => {
    if (turn === 12) return { text: "done" };
    return { calls: [get("shop.order.read", { id: turn % 2 === 0 ? "same" : `o${turn}` })] };
  };
  const events = await all(run(openShop(script, { limits: { sameCalls: 2 } }).agent, "go"));
  expect(endOf(events).outcome).toBe("answered");
});

const removal = [{ calls: [exec("shop.order.remove", { id: "o1" }, { dry_run: false })] }, { text: "Well." }];

test("a destructive tool that is bound by name waits for a person", async () => {
  const script = [{ calls: [exec("remove", { id: "o1" }, { dry_run: false })] }, { text: "Done." }];
  const { agent, shop } = openShop(script);
  const events = await all(run(agent, "remove o1"));
  expect(events.find(({ type }) => type === "permission-answer")).toMatchObject({ answer: "deny" });
  expect(shop.removed).toEqual([]);
});

test("a destructive call waits for a person, and is denied without one", async () => {
  const headless = openShop(removal);
  const denied = await all(run(headless.agent, "remove o1"));
  expect(headless.shop.removed).toEqual([]);
  expect(denied.find(({ type }) => type === "permission-answer")).toMatchObject({ answer: "deny" });
  expect(denied.find(({ type }) => type === "tool-end")).toMatchObject({ ok: false });

  const asked: string[] = [];
  const attended = openShop(removal, {
    ask: async ({ action, scope }) => {
      asked.push(`${scope}: ${action}`);
      return "once";
    },
  });
  const allowed = await all(run(attended.agent, "remove o1"));
  expect(asked).toEqual(['tool: shop.order.remove {"id":"o1"}']);
  expect(attended.shop.removed).toEqual(["o1"]);
  expect(typesOf(allowed).slice(3, 7)).toEqual([
    "tool-start",
    "permission-request",
    "permission-answer",
    "tool-end",
  ]);
});

test("a call that is cancelled while its person is asked is told as one that never ran", async () => {
  const controller = new AbortController();
  const { agent, shop } = openShop(removal, {
    ask: async (_, signal) => {
      controller.abort();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      return "deny";
    },
  });
  const session = await agent.openSession();
  await all(run(agent, "remove o1", { session, signal: controller.signal }));
  expect(JSON.stringify(session.messages)).toContain("it has changed nothing");
  expect(shop.removed).toEqual([]);
});

test("the answer session holds in its session only", async () => {
  let asked = 0;
  const remove = (id: string) => ({ calls: [exec("shop.order.remove", { id }, { dry_run: false })] });
  const { agent, shop } = openShop([remove("a"), remove("b"), { text: "1" }, remove("c"), { text: "2" }], {
    ask: async () => {
      asked++;
      return "session";
    },
  });
  await all(run(agent, "a and b", { session: await agent.openSession() }));
  expect(asked).toBe(1);
  await all(run(agent, "c"));
  expect(asked).toBe(2);
  expect(shop.removed).toEqual(["a", "b", "c"]);
});

test("an ask function that fails counts as deny", async () => {
  const { agent, shop } = openShop(removal, { ask: () => Promise.reject(new Error("no terminal")) });
  const events = await all(run(agent, "remove o1"));
  expect(shop.removed).toEqual([]);
  expect(events).toContainEqual(expect.objectContaining({ type: "notice" }));
});

async function cancelled(whenever: AgentEvent["type"], options: RunOptions = {}) {
  const { agent, model, shop } = openShop([
    { text: "I look.", calls: [get("shop.order.wait", { id: "a" }), get("shop.order.read", { id: "b" })] },
    { text: "Going on." },
  ]);
  const session = await agent.openSession();
  const controller = new AbortController();
  const events: AgentEvent[] = [];
  for await (const event of run(agent, "wait", { ...options, session, signal: controller.signal })) {
    events.push(event);
    if (event.type === whenever) controller.abort();
  }
  return { agent, model, session, events, shop };
}

test.each(["agent-start", "llm-start", "llm-text", "tool-start"] as const)(
  "a run cancelled at %s leaves a conversation that can continue",
  async (whenever) => {
    const { agent, session, events, model, shop } = await cancelled(whenever);
    expect(endOf(events).outcome).toBe("cancelled");
    const parts = session.messages.flatMap(({ content }): readonly { type: string }[] =>
      typeof content === "string" ? [] : content,
    );
    const ids = (type: string) =>
      parts.flatMap((part) => (part.type === type && "toolCallId" in part ? [part.toolCallId] : []));
    expect(ids("tool-result").sort()).toEqual(ids("tool-call").sort());
    if (whenever === "tool-start") expect(ids("tool-call")).toHaveLength(2);
    shop.release();
    const next = await all(run(agent, "go on", { session }));
    expect(endOf(next)).toMatchObject({ outcome: "answered", text: "Going on." });
    expect(model.requests.at(-1)?.messages).toContainEqual({ role: "user", text: "go on", calls: [] });
  },
);

test("to stop reading cancels the run and waits for its end", async () => {
  const { agent } = openShop([{ calls: [get("shop.order.wait", { id: "a" })] }, { text: "ok" }]);
  const session = await agent.openSession();
  for await (const event of run(agent, "wait", { session })) if (event.type === "tool-start") break;
  expect(session.messages.at(-1)?.role).toBe("tool");
  expect(endOf(await all(run(agent, "again", { session }))).outcome).toBe("answered");
});

test("a conversation has one run at a time", async () => {
  const { agent, shop } = openShop([{ calls: [get("shop.order.wait", { id: "a" })] }, { text: "first" }]);
  const session = await agent.openSession();
  const first = run(agent, "wait", { session });
  await first.next();
  const second = await all(run(agent, "me too", { session }));
  expect(endOf(second)).toMatchObject({ outcome: "failed", error: { code: "SESSION_BUSY" } });
  shop.release();
  expect(endOf(await all(first)).text).toBe("first");
});

test("structured output is checked, corrected once, and returned as a value", async () => {
  const output = z.object({ state: z.enum(["sent", "open"]) });
  const good = openShop([{ text: '{"state":"gone"}' }, { text: '```json\n{"state":"sent"}\n```' }]);
  const events = await all(run(good.agent, "state?", { output }));
  expect(endOf(events)).toMatchObject({ outcome: "answered", output: { state: "sent" } });
  expect(good.model.requests[1]?.messages.at(-1)?.text).toContain("does not fit");
  const bad = openShop([{ text: "it was sent" }, { text: "really" }]);
  const failed = await all(run(bad.agent, "state?", { output }));
  expect(endOf(failed)).toMatchObject({
    outcome: "failed",
    text: "really",
    error: { code: "OUTPUT_INVALID" },
  });
});

test("a failure of the model client is the error of the run", async () => {
  const { agent } = openShop([], {
    model: async () => ({ success: false, error: "AUTHENTICATION_ERROR", message: "No key." }),
  });
  const events = await all(run(agent, "hello"));
  expect(endOf(events)).toMatchObject({
    outcome: "failed",
    error: { code: "AUTHENTICATION_ERROR", message: "No key.", next: expect.stringContaining("key") },
  });
});

test("a call of an unknown tool is answered to the model", async () => {
  const { agent, model } = openShop([{ calls: [{ name: "constructor", args: {} }] }, { text: "Sorry." }]);
  const events = await all(run(agent, "go"));
  expect(endOf(events)).toMatchObject({ outcome: "answered", text: "Sorry." });
  expect(model.requests[1]?.messages.at(-1)?.role).toBe("tool");
});

test("get of an entry that requires confirmation asks a person, for that entry only", async () => {
  const read: string[] = [];
  const vault = (name: string) =>
    defineTool({
      name,
      op: `vault.${name}`,
      description: `Read ${name}.`,
      lane: "read",
      requiresConfirmation: true,
      execute: () => {
        read.push(name);
        return "gold";
      },
    });
  const domain = defineDomain({
    name: "vault",
    description: "Valuables.",
    tools: [vault("one"), vault("two")],
  });
  const gateway = createGateway({ domains: [domain], principal: owner });
  onTestFinished(() => gateway.close());
  const calls = ["vault.one", "vault.one", "vault.two"].map((op) => ({ calls: [get(op, {})] }));
  const model = createScriptedModel([...calls, { text: "Gold." }]);
  const asked: string[] = [];
  const ask = async ({ action }: { readonly action: string }) => {
    asked.push(action);
    return asked.length === 1 ? ("session" as const) : ("deny" as const);
  };
  await all(run(createAgent({ gateway, model, mode: "fixed" }), "What is in it?", { ask }));
  expect(asked.map((action) => action.split(" ", 1)[0])).toEqual(["vault.one", "vault.two"]);
  expect(read).toEqual(["one", "one"]);
});

test("always is offered for a tool that writes, as a rule that holds in later runs; never for one that destroys", async () => {
  const stored: string[] = [];
  const asked: { action: string; always: readonly string[] }[] = [];
  const script = ["note", "note", "remove"].flatMap((name) => [
    { calls: [exec(`shop.order.${name}`, { id: "7" })] },
    { text: "Done." },
  ]);
  const allow = ["tool(shop.order.other)"];
  const store = {
    place: "rules.json",
    allow: async (rules: readonly string[]) => void stored.push(...rules),
  };
  const permissions = createPermissions({ root: temporaryFolder(), user: { allow }, store });
  const { agent } = openShop(script, {
    permissions,
    writes: "ask",
    ask: async ({ action, always }) => {
      asked.push({ action, always });
      return "always";
    },
  });
  for (let turn = 0; turn < 3; turn += 1) await all(run(agent, "Do it"));
  expect(asked.map(({ always }) => always)).toEqual([["tool(shop.order.note)"], []]);
  expect(stored).toEqual(["tool(shop.order.note)"]);
});
