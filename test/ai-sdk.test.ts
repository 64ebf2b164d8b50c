import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  tool,
  toolSearch,
} from "ai";

import { createGateway, defineDomain, defineTool, type Gateway } from "keyhole";
import { createToolRanking } from "keyhole/ai-sdk";
import { type ScriptedReply, serveScriptedModel } from "keyhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type Connect, call, direct, openShop, search, speak } from "./ai-sdk-kit.ts";

const served =
  (connect: (url: string) => LanguageModel): Connect =>
  async (script) => {
    const server = await serveScriptedModel(script);
    onTestFinished(() => server.close());
    return { model: connect(server.url), requests: server.requests };
  };

const CONNECTIONS: Readonly<Record<string, Connect>> = {
  "the AI SDK's own interface": direct,
  "OpenAI's wire format": served((url) =>
    createOpenAI({ baseURL: `${url}/v1`, apiKey: "key" }).chat("scripted"),
  ),
  "Anthropic's wire format": served((url) =>
    createAnthropic({ baseURL: `${url}/v1`, apiKey: "key" })("scripted"),
  ),
};

/** People that the session remembers once a tool has returned them. */
function openStaff(): Gateway {
  const find = defineTool({
    name: "find_person",
    description: "Find a person by name.",
    extraction: { path: "$root", type: "person", nameField: "name" },
    inputSchema: z.object({ name: z.string() }),
    execute: ({ name }) => ({ id: `person-${name}`, name }),
  });
  const gateway = createGateway({
    domains: [defineDomain({ name: "staff", description: "People.", tools: [find] })],
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

describe.each(Object.entries(CONNECTIONS))("over %s", (_name, connect) => {
  describe.each([false, true])("streaming: %s", (isStream) => {
    const over = { connect, isStream };

    test("a question that needs no tools is answered directly", async () => {
      const { gateway } = openShop();
      const { text, requests } = await speak({
        ...over,
        gateway,
        prompt: "Hello",
        replies: [{ text: "Good morning." }],
      });
      expect(text).toBe("Good morning.");
      expect(requests.map(({ tools }) => tools)).toEqual([["tool_search"]]);
    });

    test("one discovery activates the tools that the call needs", async () => {
      const { gateway } = openShop();
      const { text, requests } = await speak({
        ...over,
        gateway,
        prompt: "Which orders are there?",
        replies: [search("list orders"), call("list_orders", { limit: 2 }), { text: "Two." }],
      });
      expect(text).toBe("Two.");
      expect(requests[0]?.tools).toEqual(["tool_search"]);
      expect(requests[1]?.tools).toContain("list_orders");
      expect(requests[1]?.messages.at(-1)?.text).toContain("Search for the order before you change it.");
      expect(requests[2]?.messages.at(-1)?.text).toContain('"id"');
    });

    test("two discoveries and five calls", async () => {
      const { gateway, calls } = openShop();
      const { requests } = await speak({
        ...over,
        gateway,
        prompt: "Order for three customers, then show what there is.",
        replies: [
          search("create order"),
          { calls: ["ann", "bob", "cy"].map((customer) => ({ name: "create_order", args: { customer } })) },
          search("list orders"),
          call("list_orders", { limit: 3 }),
          call("list_orders", { limit: 1 }),
          { text: "Done." },
        ],
      });
      expect(calls.made.map(({ tool }) => tool)).toEqual(["create_order", "create_order", "create_order"]);
      expect(requests).toHaveLength(6);
      expect(requests.at(-1)?.messages.filter(({ role }) => role === "tool").length).toBeGreaterThanOrEqual(
        5,
      );
    });
  });
});

test("the second turn has the tools of the first", async () => {
  const { gateway } = openShop();
  const first = await speak({
    gateway,
    prompt: "Which orders are there?",
    replies: [search("list orders"), call("list_orders", { limit: 1 }), { text: "One." }],
  });
  const second = await speak({
    gateway,
    prompt: "And now?",
    history: first.messages,
    options: { session: first.session },
    replies: [call("list_orders", { limit: 2 }), { text: "Two." }],
  });
  expect(second.requests[0]?.tools).toContain("list_orders");
  expect(second.requests[0]?.messages[0]).toEqual(first.requests[0]?.messages[0]);
});

test("a discovered tool stays for one more turn, a used one for longer", async () => {
  const { gateway } = openShop();
  const shown: (readonly string[])[] = [];
  let history: readonly ModelMessage[] = [];
  let session = await gateway.openSession();
  const turn = async (prompt: string, replies: readonly ScriptedReply[]) => {
    const spoken = await speak({ gateway, prompt, replies, history, options: { session } });
    history = spoken.messages;
    session = spoken.session;
    shown.push(spoken.requests[0]!.tools);
  };
  await turn("Which orders are there?", [search("orders"), call("list_orders"), { text: "Two." }]);
  await turn("Thanks.", [{ text: "Welcome." }]);
  await turn("Bye.", [{ text: "Bye." }]);
  expect(shown[1]!.length).toBeGreaterThan(2);
  expect(shown[1]).toContain("list_orders");
  expect(shown[2]).toEqual(["tool_search", "list_orders"]);
  const alone = await speak({ gateway, prompt: "Hi.", replies: [{ text: "Hi." }], options: { session } });
  expect(alone.requests[0]!.tools).toEqual(shown[1]);
});

test("a search is recorded once, and only discovered tools are remembered", async () => {
  const { gateway } = openShop();
  const { session, requests } = await speak({
    gateway,
    prompt: "Orders?",
    replies: [search("orders"), { text: "Two." }],
  });
  const found = requests[1]!.tools.filter((name) => name !== "tool_search");
  expect(found).toHaveLength(3);
  expect((await gateway.session(session)).memory.discoveredTools).toHaveLength(3);
  expect(requests[1]!.messages.at(-1)?.text).toMatch(/^Now available: .*\nAlso there: /);
});

test("the session block omits what the remaining messages already contain", async () => {
  const gateway = openStaff();
  const first = await speak({
    gateway,
    prompt: "Who is Ann?",
    replies: [search("find person"), call("find_person", { name: "Ann" }), { text: "A person." }],
  });
  const options = { session: first.session, trim: { most: 2, keep: 4 } };
  const second = await speak({
    gateway,
    options,
    history: first.messages,
    prompt: "And Bob?",
    replies: [call("find_person", { name: "Bob" }), { text: "Another." }],
  });
  const third = await speak({
    gateway,
    options,
    history: second.messages,
    prompt: "Who else?",
    replies: [{ text: "Nobody." }],
  });
  const block = third.requests[0]!.messages[0]!.text;
  expect(block).toContain("person Ann (person-Ann)");
  expect(block).not.toContain("Bob");
});

test("the session block restores messages that were cut or never passed", async () => {
  const gateway = openStaff();
  const first = await speak({
    gateway,
    prompt: "Who is Ann?",
    replies: [search("find person"), call("find_person", { name: "Ann" }), { text: "A person." }],
  });
  const again = {
    gateway,
    options: { session: first.session },
    prompt: "Who was it?",
    replies: [{ text: "Ann." }],
  };
  const withoutHistory = await speak(again);
  expect(withoutHistory.requests[0]?.messages[0]?.text).toContain("<working-memory>");
  expect(withoutHistory.requests[0]?.messages[0]?.text).toContain("Ann");
  const trim = { most: 2, keep: 1 };
  const cut = await speak({ ...again, options: { session: first.session, trim }, history: first.messages });
  expect(cut.requests[0]?.messages[0]?.text).toContain("Ann");
  expect(cut.requests[0]?.messages.length).toBeLessThan(first.messages.length);
});

test("a call of an undiscovered tool discovers it; a reading tool runs at once", async () => {
  const { gateway } = openShop();
  const { requests } = await speak({
    gateway,
    prompt: "Orders, please.",
    replies: [call("list_orders", { limit: 1 }), { text: "One." }],
  });
  expect(requests[1]?.tools).toContain("list_orders");
  expect(requests[1]?.messages.at(-1)?.text).toContain("orders");
});

test("a writing tool does not run before it is discovered", async () => {
  const { gateway, calls } = openShop();
  const { requests } = await speak({
    gateway,
    prompt: "Order something.",
    replies: [
      call("create_order", { customer: "ann" }),
      call("create_order", { customer: "ann" }),
      { text: "Done." },
    ],
  });
  expect(calls.made).toHaveLength(1);
  expect(requests[1]?.tools).toContain("create_order");
});

test("a call of an unknown tool is an error", async () => {
  const { gateway } = openShop();
  const { requests } = await speak({ gateway, prompt: "?", replies: [call("fly_to_moon"), { text: "No." }] });
  expect(requests[1]?.tools).toEqual(["tool_search"]);
});

test("a search without hits tells the model how to ask better", async () => {
  const { gateway } = openShop();
  const { requests } = await speak({ gateway, prompt: "?", replies: [search("zzzzqqq"), { text: "No." }] });
  expect(requests[1]?.messages.at(-1)?.text).toContain("in other words");
});

test("a destructive call waits for the application", async () => {
  const { gateway, calls } = openShop();
  const { text } = await speak({
    gateway,
    prompt: "Delete order 1.",
    replies: [search("delete order"), call("delete_order", { id: 1 })],
  });
  expect(text).toBe("");
  expect(calls.made).toEqual([]);
});

test("fixed tools are identical on every request and remember the same things", async () => {
  const { gateway } = openShop();
  const { requests, session } = await speak({
    gateway,
    prompt: "Which orders are there?",
    options: { mode: "fixed" },
    replies: [
      call("ask", { query: "list orders" }),
      call("get", { routes: [{ route: "shop.order.list", params: { limit: 2 } }] }),
      { text: "Two." },
    ],
  });
  for (const { tools } of requests) expect(tools).toEqual(["ask", "help", "get", "exec"]);
  expect((await gateway.session(session)).memory.discoveredTools.length).toBeGreaterThan(0);
  expect((await gateway.session(session)).memory.usedTools.map(({ count }) => count)).toEqual([1]);
});

test("application tools stay active and are remembered", async () => {
  const { gateway } = openShop();
  const clock = tool({ inputSchema: jsonSchema({ type: "object" }), execute: async () => "12:00" });
  const { requests, session } = await speak({
    gateway,
    prompt: "What time is it?",
    options: { ownTools: { clock } },
    replies: [call("clock"), { text: "Noon." }],
  });
  expect(requests[0]?.tools).toEqual(["tool_search", "clock"]);
  expect((await gateway.session(session)).memory.usedTools).toMatchObject([{ name: "clock", count: 1 }]);
});

test("a hidden tool becomes active when guidance unveils it", async () => {
  const { gateway } = openShop();
  const { requests } = await speak({
    gateway,
    prompt: "Show me the books.",
    replies: [search("clerk guide"), call("shop_clerk-guide"), { text: "There." }],
  });
  expect(requests[1]?.tools).not.toContain("Ledger");
  expect(requests[2]?.tools).toContain("Ledger");
});

test("the AI SDK's own toolSearch uses Keyhole's ranking", async () => {
  const deferred = (description: string) =>
    tool({
      deferLoading: true,
      description,
      inputSchema: jsonSchema({ type: "object" }),
      execute: async () => "done",
    });
  const { model, requests } = await direct([call("search", { query: "book a flight" }), { text: "Done." }]);
  await generateText({
    model,
    tools: {
      search: toolSearch({ search: createToolRanking(), maxResults: 1 }),
      flights_reserve: deferred("Reserve a seat on an airplane."),
      bookshelf_list: deferred("List the books on a shelf."),
    },
    prompt: "I have to fly.",
    stopWhen: isStepCount(2),
  });
  expect(requests[0]?.tools).toEqual(["search"]);
  expect(requests[1]?.tools).toEqual(["search", "flights_reserve"]);
});
