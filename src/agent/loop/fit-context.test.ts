import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { ModelMessage, ToolSet } from "ai";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createScriptedModel, type ScriptedRequest } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { loadTokenCounter } from "../../base/tokens/tokens.ts";
import { countContext, SUMMARY_START, totalOf } from "../context/count-context.ts";
import { createPermissions } from "../permissions/permissions.ts";
import { workspaceDomain } from "../workspace/workspace-domain.ts";
import { createAgent, type SessionState } from "./agent.ts";
import type { AgentEvent } from "./agent-event.ts";
import { compactSession, contextOf } from "./fit-context.ts";
import { run } from "./run.ts";
import { createSessionLogs } from "./session-log.ts";

const owner = { id: "me", scopes: [], allowWrite: true };
const LONG = "The shed has a green door and seven windows. ".repeat(40);

const isSummaryRequest = ({ messages }: ScriptedRequest) =>
  messages.some(({ role, text }) => role === "system" && text.includes("You condense a conversation"));

test("a long conversation is sent whole as long as it fits the window", async () => {
  const { agent, session, model } = await setUp(() => ({ text: "Yes." }));
  for (let turn = 1; turn <= 40; turn += 1) await all(run(agent, `Question ${turn}?`, { session }));
  const last = model.requests.at(-1)!.messages.map(({ text }) => text);
  for (let turn = 1; turn <= 40; turn += 1) expect(last).toContain(`Question ${turn}?`);
});

test("near the window the model summarizes the older part, and the person is told", async () => {
  const { agent, session, model, gateway } = await setUp(
    (request) => (isSummaryRequest(request) ? { text: "Goal: the shed, painted green." } : { text: LONG }),
    { contextWindow: 4_000 },
  );
  const events: AgentEvent[] = [];
  for (let turn = 1; turn <= 8; turn += 1)
    events.push(...(await all(run(agent, `Turn ${turn}: the shed?`, { session }))));
  const told = events.filter((event) => event.type === "context-compacted");
  expect(told.length).toBeGreaterThan(0);
  expect(told[0]).toMatchObject({ by: "model" });
  expect(told[0]!.after).toBeLessThan(told[0]!.before);
  // The request for the summary is counted too.
  expect(events.filter((event) => event.type === "llm-aside")).toHaveLength(told.length);
  const last = model.requests.at(-1)!;
  const [, first] = last.messages;
  expect(first!.text).toContain(SUMMARY_START);
  expect(first!.text).toContain("Goal: the shed, painted green.");
  expect(last.messages.at(-1)!.text).toBe("Turn 8: the shed?");
  // The older part is still there, by its handle.
  const handle = /result:\/\/\S+(?=\.)/.exec(first!.text)![0];
  const { text } = await gateway.get({ routes: [{ route: handle, params: { grep: "Turn 1" } }] });
  expect(text).toContain("Turn 1: the shed?");
  // Nothing is lost for the person.
  expect(session.messages.filter(({ role }) => role === "user")).toHaveLength(8);
});

test("large results of earlier turns go behind handles first, and no summary is needed", async () => {
  const { agent, session, model, gateway, folder } = await setUp(
    ({ messages }) => {
      const last = messages.at(-1)!;
      if (last.role === "user" && last.text.startsWith("Read"))
        return { calls: [{ name: "read", args: { path: "large.md" } }] };
      return { text: "It is about a shed." };
    },
    { contextWindow: 12_000 },
  );
  writeFileSync(join(folder, "large.md"), `${LONG.trim()}\n`.repeat(5));
  const events: AgentEvent[] = [];
  for (let turn = 1; turn <= 5; turn += 1)
    events.push(...(await all(run(agent, `Read it, turn ${turn}`, { session }))));
  const told = events.filter((event) => event.type === "context-compacted");
  expect(told.map(({ by }) => by)).toEqual(["handles", ...told.slice(1).map(() => "handles")]);
  expect(told[0]!.after).toBeLessThan(told[0]!.before);
  expect(model.requests.some(isSummaryRequest)).toBe(false);
  const sent = model.requests.at(-1)!.messages;
  expect(sent.filter(({ role }) => role === "user")).toHaveLength(5);
  const handle = /result:\/\/[\w-]+/.exec(sent.find(({ text }) => text.includes("can be read at"))!.text)![0];
  const { text } = await gateway.get({ routes: [{ route: handle, params: { grep: "green door" } }] });
  expect(text).toContain("seven windows");
});

test("without a summary an index stands for the older part", async () => {
  const { agent, session, model } = await setUp(
    (request) => {
      if (isSummaryRequest(request)) throw new Error("The model has gone.");
      return { text: LONG };
    },
    { contextWindow: 4_000, maxRetries: 0 },
  );
  const events: AgentEvent[] = [];
  for (let turn = 1; turn <= 9; turn += 1)
    events.push(...(await all(run(agent, `Turn ${turn}?`, { session }))));
  expect(events.find((event) => event.type === "context-compacted")).toMatchObject({
    by: "index",
    failure: "The model has gone.",
  });
  expect(model.requests.at(-1)!.messages[1]!.text).toContain("- Person: Turn 1?");
});

test("a provider that finds a request too long gets it again, summarized", async () => {
  let refused = 0;
  const { agent, session, model } = await setUp((request) => {
    if (isSummaryRequest(request)) return { text: "Goal: none." };
    if (request.messages.length > 5 && refused++ === 0)
      throw Object.assign(new Error("prompt is too long: maximum context length"), { statusCode: 400 });
    return { text: "Well." };
  });
  for (const prompt of ["One?", "Two?"]) await all(run(agent, prompt, { session }));
  const events = await all(run(agent, "Three?", { session }));
  expect(events.at(-1)).toMatchObject({ outcome: "answered", text: "Well." });
  expect(events.some(({ type }) => type === "context-compacted")).toBe(true);
  expect(model.requests.at(-1)!.messages[1]!.text).toContain("Goal: none.");
});

test("the count of the context is that of the next request, by cause", async () => {
  const { agent, session, model } = await setUp(({ messages }) => {
    if (messages.at(-1)?.text === "Look") return { calls: [{ name: "read", args: { path: "notes.md" } }] };
    if (messages.at(-1)?.text === "Find")
      return { calls: [{ name: "tool_search", args: { query: "weather" } }] };
    return { text: "It is there." };
  });
  const countTokens = await loadTokenCounter();
  for (const prompt of ["Look", "Find", "And now?"]) {
    const before = await contextOf(agent, session);
    const sent = model.requests.length;
    await all(run(agent, prompt, { session }));
    const received = await countReceived(
      model.requests[sent]!.body as LanguageModelV4CallOptions,
      countTokens,
    );
    expect(received).toBe(before.total + countTokens(prompt));
    const { counts, total } = await contextOf(agent, session);
    expect(totalOf(counts)).toBe(total);
  }
  const { counts } = await contextOf(agent, session);
  expect(counts["found tools"]).toBeGreaterThan(0);
  expect(counts.results).toBeGreaterThan(0);
});

test("tools keep their order and only grow, and the parts that stay are marked for the provider's cache", async () => {
  const { agent, session, model } = await setUp(({ messages }) => {
    if (messages.at(-1)?.text === "Find")
      return { calls: [{ name: "tool_search", args: { query: "weather" } }] };
    return { text: "Good." };
  });
  for (const prompt of ["Hello", "Find", "Thanks", "Bye"]) await all(run(agent, prompt, { session }));
  const lists = model.requests.map(({ tools }) => tools);
  expect(lists[0]).toEqual(
    ["read", "list", "search", "write", "edit", "delete", "shell", "tool_search"].sort(byOrder(lists[0]!)),
  );
  for (const [index, list] of lists.entries()) {
    if (index > 0) expect(list.slice(0, lists[index - 1]!.length)).toEqual(lists[index - 1]);
  }
  expect(lists.at(-1)).toContain("get_weather");
  const { tools = [], prompt } = model.requests.at(-1)!.body as LanguageModelV4CallOptions;
  const marked = [...tools, ...prompt].filter(
    (part) => "providerOptions" in part && part.providerOptions?.anthropic,
  );
  expect(marked.map((part) => ("role" in part ? part.role : part.type))).toEqual(["system", "user", "user"]);
});

test("a summary on demand stands for everything, also after a resumption", async () => {
  const path = temporaryFolder();
  const { agent, session, model } = await setUp(
    (request) => ({ text: isSummaryRequest(request) ? "Goal: tea. Keep: the kettle." : "Well." }),
    { sessions: createSessionLogs({ path }) },
  );
  await all(run(agent, "Make tea", { session }));
  const told: unknown[] = [];
  const emit = (event: unknown) => void told.push(event);
  await compactSession(agent, session, {
    keep: 0,
    focus: "the kettle",
    signal: new AbortController().signal,
    emit,
  });
  expect(told).toMatchObject([{ type: "llm-aside" }, { type: "context-compacted" }]);
  expect(model.requests.at(-1)!.messages.at(-1)!.text).toContain("keep above all: the kettle");
  await session.end();
  const resumed = (await agent.openSession({ resume: session.id })) as SessionState;
  expect(resumed.messages.map(({ content }) => JSON.stringify(content)).join()).toContain("Make tea");
  await all(run(agent, "Go on", { session: resumed }));
  const texts = model.requests.at(-1)!.messages.map(({ text }) => text);
  expect(texts[1]).toContain("Goal: tea.");
  expect(texts).not.toContain("Make tea");
  await resumed.end();
});

async function setUp(script: Parameters<typeof createScriptedModel>[0], more: object = {}) {
  const weather = defineTool({
    name: "get_weather",
    op: "sky.get_weather",
    description: "Tells the weather of a place.",
    lane: "read",
    inputSchema: z.object({ place: z.string() }),
    execute: () => "Rain.",
  });
  const root = temporaryFolder();
  writeFileSync(join(root, "notes.md"), "One\nTwo\n");
  const gateway = createGateway({
    domains: [
      workspaceDomain({ permissions: createPermissions({ root }) }),
      defineDomain({ name: "sky", description: "The sky.", tools: [weather] }),
    ],
    principal: owner,
  });
  onTestFinished(() => gateway.close());
  const model = createScriptedModel(script);
  const agent = createAgent({ gateway, model, instructions: "You are a test.", ...more });
  return { agent, gateway, model, folder: root, session: (await agent.openSession()) as SessionState };
}

/** Counts a request as the model got it, apart from the agent's own way of making it. */
async function countReceived(
  { tools = [], prompt }: LanguageModelV4CallOptions,
  countTokens: (text: string) => number,
): Promise<number> {
  const listed = tools.flatMap((tool) =>
    tool.type === "function"
      ? [JSON.stringify({ name: tool.name, description: tool.description, inputSchema: tool.inputSchema })]
      : [],
  );
  const system = prompt.filter(({ role }) => role === "system").map(({ content }) => content as string);
  const messages = prompt.filter(({ role }) => role !== "system") as unknown as ModelMessage[];
  const nothing = {
    tools: {} as ToolSet,
    firstTools: 0,
    instructions: { instructions: "", project: "", skills: "" },
  };
  const counts = await countContext({ ...nothing, messages }, countTokens);
  return [...listed, ...system].reduce((sum, text) => sum + countTokens(text), totalOf(counts));
}

const byOrder = (list: readonly string[]) => (one: string, other: string) =>
  list.indexOf(one) - list.indexOf(other);

async function all(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}
