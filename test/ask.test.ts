import { createGateway, defineDomain, defineResource, defineTool } from "keyhole";
import { expect, test } from "vitest";
import { loadTokenCounter } from "../src/base/tokens/tokens.ts";
import { countWanted } from "../src/core/operations/rank.ts";
import { verifies } from "./claims.ts";
import { auditor, createShop, reader } from "./shop.ts";

const countTokens = await loadTokenCounter();

verifies("ask:exact-name-survives", "a name is found in any spelling, alone or in a sentence", async () => {
  const crowd = Array.from({ length: 50 }, (_, number) =>
    defineTool({
      name: `order_helper_${number}`,
      description: "Delete order, delete order, delete the order: order order order delete.",
      execute: () => "",
    }),
  );
  const { domains } = createShop();
  const gateway = createGateway({
    domains: [...domains, defineDomain({ name: "crowd", description: "Noise about orders.", tools: crowd })],
  });
  const spellings = [
    "delete_order",
    "deleteOrder",
    "shop.order.delete",
    "shop://tools/order/delete",
    "Please use delete_order to get rid of the order helper",
  ];
  for (const query of spellings) {
    const { hits } = await gateway.ask({ query, limit: 3 });
    expect(hits[0]?.op, query).toBe("shop.order.delete");
  }
});

verifies("ask:no-starvation", "the best hit of each query is near the top", async () => {
  const gateway = createGateway({ domains: createShop().domains });
  const { hits } = await gateway.ask({
    queries: ["newest orders", "label printer manual", "money back"],
    limit: 3,
  });
  const found = hits.filter((hit) => !hit.entryPoint);
  expect(found.map((hit) => hit.op).sort()).toEqual([
    "shop.order.list",
    "shop.refund.send",
    "shop.resources.manual",
  ]);
});

verifies("ask:entry-points", "a matched domain always shows them, and never hidden entries", async () => {
  const gateway = createGateway({ domains: createShop().domains });
  for (const query of ["orders", "ledger", "bookings of a year", "shop://tools/hidden/ledger"]) {
    const answer = await gateway.ask({ query });
    const shown = answer.hits.map((hit) => hit.route);
    expect(shown, query).toContain("shop://tools/clerk-guide");
    expect(JSON.stringify({ ...answer, notes: [] }), query).not.toContain("shop://tools/hidden/ledger(");
    expect(shown).not.toContain("shop://tools/hidden/ledger");
  }
  const forAuditor = await gateway.ask({ query: "orders" }, { principal: auditor });
  expect(forAuditor.domains.map((domain) => domain.name)).toEqual(["shop", "audit"]);
});

verifies("ask:near-names", "a typo is answered with the nearest names", async () => {
  const gateway = createGateway({ domains: createShop().domains });
  const { hits, suggestions, text } = await gateway.ask({ query: "snd_refnd", limit: 1 });
  expect([...hits.map((hit) => hit.route), ...suggestions]).toContain("shop://tools/refund/send");
  expect(text).toContain("shop://tools/refund/send");
  const other = await gateway.ask({ query: "shop.ordr.lst", kinds: ["resource"] });
  expect(other.suggestions).toContain("shop://tools/order/list");
});

verifies("ask:says-why", "an entry with a refused schema is shown with the reason", async () => {
  const broken = defineTool({
    name: "draw_tree",
    description: "Draw a tree.",
    inputSchema: { $ref: "#" },
    execute: () => "",
  });
  const gateway = createGateway({
    domains: [defineDomain({ name: "art", description: "Drawing.", tools: [broken] })],
  });
  const { hits, text } = await gateway.ask({ query: "draw a tree" });
  expect(hits[0]?.unavailable).toMatch(/^invalid/);
  expect(text).toContain("[unavailable, invalid");
  const run = await gateway.exec({ op: hits[0]?.op ?? "" });
  expect(run).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
});

verifies(
  "ask:rules-once",
  "rules come once per session with their entries, and every time without a session",
  async () => {
    const gateway = createGateway({ domains: createShop().domains });
    const first = await gateway.ask({ query: "orders", session: "new" });
    expect(first.rules.map((rule) => rule.category)).toEqual(["orders"]);
    expect(first.session).toMatch(/^ses_/);
    const again = await gateway.ask({ query: "create order", session: first.session });
    expect(again.rules).toEqual([]);
    expect((await gateway.ask({ query: "orders" })).rules).toHaveLength(1);
    expect((await gateway.ask({ query: "label printer", limit: 1 })).rules).toEqual([]);
  },
);

verifies(
  "ask:shrinks-first",
  "lines shrink before hits are dropped, and omitted hits are counted",
  async () => {
    const long = "It works on many rows at once and takes care of all the special cases there are.";
    const tools = Array.from({ length: 12 }, (_, number) =>
      defineTool({
        name: `count_rows_${number}`,
        description: `Count rows of table ${number}. ${long}`,
        execute: () => "",
      }),
    );
    const gateway = createGateway({ domains: [defineDomain({ name: "db", description: "Tables.", tools })] });
    const ask = (maxTokens: number) => gateway.ask({ query: "count rows of a table", limit: 12, maxTokens });
    const [wide, tight, tiny] = [await ask(700), await ask(170), await ask(64)];
    expect(wide.hits).toHaveLength(12);
    expect(wide.omitted).toBe(0);
    expect(tight.hits).toHaveLength(12);
    expect(tight.hits.filter((hit) => hit.summary === undefined).length).toBeGreaterThan(0);
    expect(tiny.hits.length).toBeGreaterThan(0);
    expect(tiny.hits.length + tiny.omitted).toBe(12);
    expect(tiny.text).toContain(`${tiny.omitted} more left out`);
    for (const [answer, budget] of [
      [wide, 700],
      [tight, 170],
      [tiny, 64],
    ] as const) {
      expect(countTokens(answer.text)).toBeLessThanOrEqual(budget);
    }
  },
);

verifies("ask:segments", "segments order and limit a domain's hits", async () => {
  const table = (name: string, type: string) =>
    defineResource({
      route: `warehouse://resources/${name}`,
      name,
      description: `orders ${type} ${name}`,
      metadata: { resource_type: type },
      fetch: () => name,
    });
  const gateway = createGateway({
    domains: [
      defineDomain({
        name: "warehouse",
        description: "Tables and columns.",
        resources: [table("t1", "table"), table("c1", "column"), table("c2", "column"), table("t2", "table")],
        searchConfig: {
          segments: [
            { name: "tables", filter: "resource_type:=table", limit: 1, priority: 2 },
            { name: "columns", filter: "resource_type:=column", limit: 10, priority: 1 },
          ],
        },
      }),
    ],
  });
  const { hits } = await gateway.ask({ query: "orders" });
  expect(hits.map((hit) => hit.name.slice(0, 1))).toEqual(["c", "c", "t"]);
});

test("domain, kinds and perDomain narrow the answer", async () => {
  const gateway = createGateway({ domains: createShop().domains });
  const documents = await gateway.ask({ query: "orders manual", kinds: ["resource"] });
  expect(documents.hits.map((hit) => hit.kind)).toEqual(["resource"]);
  const { hits } = await gateway.ask({ query: "orders", perDomain: 1 });
  expect(hits.filter((hit) => !hit.entryPoint)).toHaveLength(1);
  expect(await gateway.ask({ query: "orders", domain: "shp" })).toMatchObject({
    ok: false,
    hits: [],
    error: { code: "NOT_FOUND", details: { nearest: ["shop"] } },
  });
});

test("an answer without hits says what to try and still shows entry points", async () => {
  const gateway = createGateway({ domains: createShop().domains, principal: reader });
  const { hits, text } = await gateway.ask({ query: "qqq zzz" });
  expect(hits.filter((hit) => !hit.entryPoint)).toEqual([]);
  expect(text).toContain('Nothing here matches "qqq zzz"');
  expect(hits[0]).toMatchObject({ route: "shop://tools/clerk-guide", entryPoint: true });
});

test.each(["", " ", "\0", "😀", "\ud800", "((((", "the of and", "a".repeat(1_000_000)].entries().toArray())(
  "odd query %i is answered",
  async (_, query) => {
    const gateway = createGateway({ domains: createShop().domains });
    const { text } = await gateway.ask({ query });
    expect(countTokens(text)).toBeLessThanOrEqual(700);
  },
);

test("a name that reads like two needs is found by its whole name", async () => {
  const tools = ["List", "List and query databases"].map((name) =>
    defineTool({ name, description: `The tool ${name}.`, execute: () => name }),
  );
  const gateway = createGateway({ domains: [defineDomain({ name: "db", description: "Data.", tools })] });
  for (const query of ["List and query databases", "Please use List and query databases for this"]) {
    expect((await gateway.ask({ query })).hits[0]?.name).toBe("List and query databases");
  }
});

test("several needs in one sentence each get their hits", async () => {
  const tool = (name: string, description: string) => defineTool({ name, description, execute: () => 1 });
  const site = defineDomain({
    name: "site",
    description: "A website.",
    tools: [
      tool("delete_page", "Delete a page of the website."),
      tool("list_pages", "List the pages of the website."),
      tool("read_page", "Read a page."),
      tool("update_page", "Change the text of a page."),
      tool("add_menu_link", "Add a link to a menu."),
      tool("list_menus", "List the menus."),
    ],
  });
  const plan = defineDomain({
    name: "plan",
    description: "Planning of projects.",
    tools: [tool("list_risks", "List the risks of a project."), tool("list_tasks", "List tasks.")],
  });
  const gateway = createGateway({ domains: [site, plan] });
  const query = "delete the page about prices; add a link to the menu; list risks";
  const { hits } = await gateway.ask({ query });
  const found = hits.map(({ name }) => name);
  for (const wanted of ["delete_page", "add_menu_link", "list_risks"])
    expect(found.slice(0, 5)).toContain(wanted);
  await gateway.close();
});

test("tools that several domains have by the same name say how they differ", async () => {
  const tool = (name: string, params: readonly string[]) =>
    defineTool({
      name,
      description: "Creates an issue.",
      inputSchema: {
        type: "object",
        properties: Object.fromEntries(["title", ...params].map((param) => [param, { type: "string" }])),
      },
      execute: () => "",
    });
  const domain = (name: string, tools: ReturnType<typeof tool>[]) =>
    defineDomain({ name, description: `The ${name} server.`, tools });
  const gateway = createGateway({
    domains: [
      domain("github", [tool("create_issue", ["repo"]), tool("close_issue", [])]),
      domain("linear", [tool("issue_create", ["team", "priority"])]),
      domain("weather", [tool("forecast", ["city"])]),
    ],
  });
  const { text } = await gateway.ask({ query: "create an issue" });
  expect(text).toContain(
    "Alike: github.issue.create, linear.issue.create; only github takes repo; only linear takes team, priority.",
  );
  expect((await gateway.ask({ query: "forecast for a city" })).text).not.toContain("Alike");
});

test("an entry point that an answer about another domain named in passing is shown by its own", async () => {
  const tool = (name: string, description: string, visibility: "entry" | "listed" = "listed") =>
    defineTool({ name, description, visibility, inputSchema: { type: "object" }, execute: () => "" });
  const gateway = createGateway({
    domains: [
      defineDomain({
        name: "lamps",
        description: "Lamps.",
        tools: [tool("start_lamps", "Begin with lamps here.", "entry"), tool("dim_lamp", "Dim a lamp.")],
      }),
      defineDomain({
        name: "doors",
        description: "Doors.",
        tools: [tool("open_door", "Open a door."), tool("lock_door", "Lock a door.")],
      }),
    ],
  });
  const session = await gateway.openSession();
  const doors = await gateway.ask({ query: "open a door", limit: 2, session });
  expect(doors.hits.map(({ name }) => name)).toContain("start_lamps");
  const lamps = await gateway.ask({ query: "dim a lamp", session });
  expect(lamps.hits.find(({ name }) => name === "start_lamps")).not.toHaveProperty("shownBefore");
  expect(lamps.text).toContain("Begin with lamps here.");
  await gateway.close();
});

test("the way into a domain stands before its documents, however many of them match better", async () => {
  const gateway = shopWithColumns();
  const { text } = await gateway.ask({ query: "order status column", limit: 18 });
  const lines = text.split("\n").filter((line) => line.startsWith("- shop://"));
  expect(lines.length).toBeGreaterThan(15);
  expect(lines[0]).toContain("Begin here with an order.");
  await gateway.close();
});

test("the way into a domain that an answer about another one found is shown again by its own", async () => {
  const gateway = shopWithColumns();
  const session = await gateway.openSession();
  const { hits } = await gateway.ask({
    query: "water the plants with an order of things",
    limit: 18,
    session,
  });
  expect(hits[0]?.name).toBe("water_plants");
  expect(hits.find(({ name }) => name === "start_orders")).toBeDefined();
  const { text } = await gateway.ask({ query: "order status column", session });
  expect(text).toContain("Begin here with an order.");
  await gateway.close();
});

/** A domain with one way in and fifteen columns of a table, beside another domain. */
function shopWithColumns() {
  const inputSchema = { type: "object" };
  const columns = Array.from({ length: 15 }, (_, at) => ({
    name: `status_${at}`,
    route: `shop://resources/columns/status_${at}`,
    description: `Column of the order status, number ${at}.`,
    fetch: () => "",
  }));
  const start = {
    name: "start_orders",
    description: "Begin here with an order.",
    visibility: "entry" as const,
  };
  return createGateway({
    domains: [
      defineDomain({
        name: "shop",
        description: "Sales.",
        tools: [defineTool({ ...start, inputSchema, execute: () => "" })],
        resources: columns.map((column) => defineResource(column)),
      }),
      defineDomain({
        name: "garden",
        description: "Plants.",
        tools: ["water_plants", "feed_plants"].map((name) =>
          defineTool({ name, description: `${name.replace("_", " ")}.`, inputSchema, execute: () => "" }),
        ),
      }),
    ],
  });
}

test("an answer to many needs has room for two hits of each", () => {
  const needs = (count: number) => ({ queries: Array.from({ length: count }, (_, at) => `need ${at}`) });
  expect(countWanted(needs(3), [])).toBe(10);
  expect(countWanted(needs(9), [])).toBe(18);
  expect(countWanted({ ...needs(9), limit: 4 }, [])).toBe(4);
});
