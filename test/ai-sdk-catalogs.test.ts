// Tools as a model sees them: their names, changes of the catalog, and their cost in tokens.
import {
  convertToModelMessages,
  jsonSchema,
  type ModelMessage,
  readUIMessageStream,
  ToolLoopAgent,
  tool,
  type UIMessage,
} from "ai";
import { createGateway, defineDomain, defineTool, loadTokenCounter, type Principal } from "keyhole";
import { toAISDKTools } from "keyhole/ai-sdk";
import { createScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { call, openShop, search, speak } from "./ai-sdk-kit.ts";
import { auditor, clerk, createShop, reader } from "./shop.ts";

const owner: Principal = { id: "owner", scopes: [], allowWrite: true };

function open(...domains: ReturnType<typeof defineDomain>[]) {
  const gateway = createGateway({ domains, principal: owner });
  onTestFinished(() => gateway.close());
  return gateway;
}

function makeTools(domain: string, names: readonly string[], done: string[] = []) {
  return defineDomain({
    name: domain,
    description: `What ${domain} has.`,
    tools: names.map((name, index) =>
      defineTool({
        name,
        route: `${domain}://tools/t${index}`,
        description: `Does ${name} of ${domain}.`,
        lane: "write",
        execute: () => {
          done.push(`${domain} ${name}`);
          return "done";
        },
      }),
    ),
  });
}

const clock = tool({ inputSchema: jsonSchema({ type: "object" }), execute: async () => "12:00" });

test("tool names are valid for every vendor and clash with no other tool", async () => {
  const gateway = open(makeTools("a", ["files.read", "__proto__", "get", "tool_search", "clock", "plain"]));
  const { tools } = await toAISDKTools(gateway, { ownTools: { clock } });
  const names = Object.keys(tools);
  expect(names).toHaveLength(9);
  for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/);
  expect(names).toContain("plain");
  expect(tools.clock).toBe(clock);
  await expect(toAISDKTools(gateway, { ownTools: { tool_search: clock } })).rejects.toMatchObject({
    code: "INVALID_INPUT",
  });
  await expect(toAISDKTools(gateway, { mode: "fixed", ownTools: { exec: clock } })).rejects.toMatchObject({
    code: "INVALID_INPUT",
  });
});

test("an entry does not replace an application tool of the same name", async () => {
  const done: string[] = [];
  const gateway = open(makeTools("a", ["clock"], done));
  const first = await speak({
    gateway,
    prompt: "Wind the clock.",
    options: { ownTools: { clock } },
    replies: [search("does clock"), call("clock"), call("a_t0"), { text: "Wound." }],
  });
  expect(first.requests.at(-1)?.tools).toEqual(["tool_search", "a_t0", "clock"]);
  expect(first.requests[2]?.messages.at(-1)?.text).toContain("12:00");
  expect(done).toEqual(["a clock"]);
  expect((await gateway.session(first.session)).memory.usedTools.map(({ name }) => name)).toEqual([
    "clock",
    "a.t0",
  ]);
});

test("a call of a hidden tool discovers it, whether it reads or writes", async () => {
  let count = 0;
  const hidden = defineTool({
    name: "press_button",
    description: "Press the button.",
    searchable: false,
    lane: "write",
    execute: () => {
      count += 1;
      return "pressed";
    },
  });
  const gateway = open(defineDomain({ name: "panel", description: "A panel.", tools: [hidden] }));
  const { requests } = await speak({
    gateway,
    prompt: "Press it.",
    replies: [call("press_button"), call("press_button"), { text: "Pressed." }],
  });
  expect(requests[1]?.tools).toEqual(["tool_search", "press_button"]);
  expect(requests[1]?.messages.at(-1)?.text).toBe("Now available: press_button");
  expect(count).toBe(1);
});

test("an unreadable or ambiguous call does not run", async () => {
  const done: string[] = [];
  const gateway = open(makeTools("a", ["send"], done), makeTools("b", ["send"], done));
  await speak({
    gateway,
    prompt: "Send.",
    options: { mode: "fixed" },
    replies: [call("send"), { text: "No." }],
  });
  expect(done).toEqual([]);
  const { gateway: shop } = openShop();
  for (const mode of ["discover", "fixed"] as const) {
    const { repairToolCall, tools } = await toAISDKTools(shop, { mode });
    const toolCall = {
      type: "tool-call" as const,
      toolCallId: "1",
      toolName: "list_orders",
      input: '{"limit": 1',
    };
    const given = { toolCall, tools, error: new SyntaxError("Unexpected end") };
    expect(await repairToolCall(given as never)).toBeNull();
  }
});

test("the next turn drops a tool that disappeared and has one that appeared", async () => {
  const { gateway } = openShop();
  const first = await speak({
    gateway,
    prompt: "Orders?",
    replies: [search("list orders"), call("list_orders"), { text: "Ten." }],
  });
  await gateway.setDomains([makeTools("stock", ["count_stock"])]);
  const second = await speak({
    gateway,
    prompt: "And the stock?",
    history: first.messages,
    options: { session: first.session },
    replies: [call("list_orders"), search("count stock"), call("count_stock"), { text: "Some." }],
  });
  expect(second.requests[0]?.tools).toEqual(["tool_search"]);
  expect(second.requests[3]?.tools).toEqual(["tool_search", "count_stock"]);
  expect(second.requests[3]?.messages.at(-1)?.text).toContain("done");
});

test("a tool that appears during a turn is described correctly", async () => {
  const gateway = open();
  const { requests } = await speak({
    gateway,
    prompt: "Count.",
    replies: [search("count stock"), { text: "Later." }],
    beforeTurn: () => gateway.setDomains([makeTools("stock", ["count_stock"])]),
  });
  expect(requests[1]?.tools).toEqual(["tool_search"]);
  expect(requests[1]?.messages.at(-1)?.text).toBe(
    "There but not usable now: count_stock (new, from the next turn on).",
  );
});

test("documents alone are not announced as tools", async () => {
  const { gateway } = openShop();
  const { requests } = await speak({
    gateway,
    prompt: "How does the till work?",
    replies: [
      search("manual of the till"),
      call("get", { routes: [{ route: "shop://resources/manual" }] }),
      { text: "Press green." },
    ],
  });
  expect(requests[1]?.tools).toEqual(["tool_search", "get"]);
  expect(requests[1]?.messages.at(-1)?.text).not.toContain("now available");
  expect(requests[2]?.messages.at(-1)?.text).toContain("Press the green button.");
});

test("two conversations of two principals share a gateway and nothing else", async () => {
  const { domains } = createShop();
  const gateway = createGateway({ domains });
  onTestFinished(() => gateway.close());
  const ask = (principal: Principal) =>
    speak({
      gateway,
      prompt: "The audit report?",
      options: { principal },
      replies: [search("audit report irregular bookings"), { text: "So." }],
    });
  const [one, other] = await Promise.all([ask(auditor), ask(reader)]);
  expect(one.requests[1]?.messages.at(-1)?.text).toContain("audit_report");
  expect(JSON.stringify(other.requests.map(({ messages }) => messages))).not.toContain("audit_report");
  await expect(toAISDKTools(gateway, { principal: reader, session: one.session })).rejects.toMatchObject({
    code: "UNKNOWN_HANDLE",
  });
});

test("the ledger counts the tokens shown to the model, and the budget uses the same count", async () => {
  const countTokens = await loadTokenCounter();
  const { gateway } = openShop();
  const { session, requests } = await speak({
    gateway,
    prompt: "Orders?",
    replies: [search("list orders"), call("list_orders", { limit: 2 }), { text: "Two." }],
  });
  const texts = requests
    .at(-1)!
    .messages.filter(({ role }) => role === "tool")
    .map(({ text }) => text);
  const { tokens } = (await gateway.report({ session })).ledger;
  expect(tokens.ask + tokens.rules).toBe(countTokens(texts[0]!));
  expect(tokens.results).toBe(countTokens(texts[1]!));
});

test("a budget used up during a turn says how to go on, whether or not the ledger was read", async () => {
  for (const looks of [false, true]) {
    const { domains } = createShop();
    const gateway = createGateway({ domains, principal: clerk, limits: { sessionTokens: 350 } });
    onTestFinished(() => gateway.close());
    const session = await gateway.openSession();
    const turn = (history: readonly ModelMessage[] = []) =>
      speak({
        gateway,
        history,
        prompt: "Orders?",
        options: { session },
        replies: [search("list orders"), search("create an order"), { text: "None." }],
      });
    const first = await turn();
    if (looks) (await gateway.report({ session })).ledger;
    const second = await turn(first.messages);
    const said = second.requests.at(-1)!.messages.at(-1)!.text;
    expect(said).toMatch(/^BUDGET_EXCEEDED: .*Read session:\/\/ses_/s);
  }
});

test("an AI SDK agent streams UI messages", async () => {
  const { gateway } = openShop();
  const model = createScriptedModel([
    search("list orders"),
    call("list_orders", { limit: 1 }),
    { text: "One." },
    { text: "Yes." },
  ]);
  const { session, ...turn } = await toAISDKTools(gateway);
  const asked: UIMessage = { id: "1", role: "user", parts: [{ type: "text", text: "Orders?" }] };
  const run = await new ToolLoopAgent({ ...turn, model }).stream({
    messages: await convertToModelMessages([asked]),
  });
  let answer: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream: run.toUIMessageStream() })) answer = message;
  const { session: _, ...next } = await toAISDKTools(gateway, { session });
  const messages = await convertToModelMessages([asked, answer!, { ...asked, id: "2" }], {
    tools: next.tools,
  });
  const { text } = await new ToolLoopAgent({ ...next, model }).generate({ messages });
  expect(text).toBe("Yes.");
  const [last, second] = [model.requests.at(-1)!, model.requests[2]!];
  expect(last.tools).toContain("list_orders");
  const results = (request: typeof last) =>
    request.messages.filter(({ role }) => role === "tool").map((message) => message.text);
  expect(results(last)).toEqual(results(second));
});

test("tools of a large catalog are made once, their schemas only when shown", async () => {
  const names = Array.from({ length: 2_000 }, (_, index) => `tool_${index}`);
  const gateway = open(makeTools("many", names));
  const [one, other] = [await toAISDKTools(gateway), await toAISDKTools(gateway)];
  expect(one.tools.tool_7?.inputSchema).toBe(other.tools.tool_7?.inputSchema);
  await gateway.setDomains([makeTools("many", [...names, "one_more"])]);
  const changed = await toAISDKTools(gateway);
  expect(Object.keys(changed.tools)).toHaveLength(names.length + 3);
});
