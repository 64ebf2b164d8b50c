// Walks the document about routes and guidance (Ernesto): its domains, calls and codes, as they are written.
import { createToolbox, type DomainDefinition, defineDomain, type KeyholeEvent, onEvent } from "keyhole";
import { createEmbeddedIndex } from "keyhole/search";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  ALICE,
  ALL,
  ANALYST,
  createWarehouse,
  document,
  INVESTIGATION,
  LOGS,
  open,
  QUERY,
} from "./ernesto-domains.ts";

/** The answer of `get` as the document's JSON. */
async function getJson(input: object) {
  const toolbox = await createToolbox(open(ALL), { surface: "routes" });
  return (await toolbox.call("get", input)).data as { results: object[]; summary: object };
}

describe("routes", () => {
  test.each([ANALYST, QUERY, "warehouse://resources/facts/fact_orders", "logs://tools/hidden/user-activity"])(
    "%s is the address of one entry",
    async (route) => {
      expect(await getJson({ routes: [{ route, params: { sql: "select 1" } }] })).toMatchObject({
        results: [{ route, success: true }],
      });
    },
  );
});

describe("get", () => {
  test("answers with content and guidance of each route, and a summary", async () => {
    const { results, summary } = await getJson({
      routes: [{ route: ANALYST, params: { query: "..." } }, { route: "logs://tools/investigator" }],
    });
    expect(results[0]).toMatchObject({
      route: ANALYST,
      success: true,
      data: {
        content: expect.stringMatching(/^# Analyst Guide\n\n/),
        guidance: [
          { route: QUERY, prose: "Execute custom SQL against the warehouse" },
          { route: INVESTIGATION, prose: "Deep-dive on a specific user" },
          { route: "warehouse://tools/hidden/revenue-breakdown" },
        ],
      },
    });
    expect(summary).toEqual({ total: 2, success: 2, failed: 0 });
  });

  test("a tool and a resource that return only content are shown as their content", async () => {
    const library = defineDomain({
      name: "library",
      description: "Documents.",
      resources: [document("guide", "A guide.")],
    });
    const gateway = open([...ALL, library]);
    const { results, text } = await gateway.get({
      routes: [
        { route: "warehouse://tools/hidden/revenue-breakdown" },
        { route: "library://resources/guide" },
      ],
    });
    expect(results).toMatchObject([
      { data: { content: "# Revenue Breakdown", guidance: [] } },
      { data: { content: "# guide", guidance: [] } },
    ]);
    expect(text).not.toContain('{"content"');
    const run = await gateway.exec({ route: "warehouse://tools/hidden/get-columns", args: {} });
    expect(run).toMatchObject({ ok: true, result: "# Get Columns" });
  });

  test("a value that is more than content stays as it is", async () => {
    const returning = (name: string, value: unknown, more: object = {}) => ({
      name,
      description: "Returns a value.",
      lane: "read" as const,
      execute: () => value,
      ...more,
    });
    const tools = [
      returning("both", { content: "text", size: 4 }),
      returning("listed", { content: [1] }),
      returning(
        "declared",
        { content: "text" },
        { outputSchema: { type: "object", properties: { content: { type: "string" } } } },
      ),
    ];
    const gateway = open([defineDomain({ name: "values", description: "Values.", tools })]);
    const resultOf = async (op: string) => await gateway.exec({ op, args: {} });
    expect(await resultOf("values.both")).toMatchObject({ result: { content: "text", size: 4 } });
    expect(await resultOf("values.listed")).toMatchObject({ result: { content: [1] } });
    expect(await resultOf("values.declared")).toMatchObject({ result: { content: "text" } });
  });
});

describe("progressive disclosure", () => {
  test("a fraud investigation goes from ask to the analyst, the user and other domains", async () => {
    const gateway = open(ALL);
    const session = await gateway.openSession();
    const found = await gateway.ask({ query: "fraud investigation user X", session });
    expect(found.hits.map(({ route }) => route)).toEqual(
      expect.arrayContaining([ANALYST, "logs://tools/investigator"]),
    );
    const next = async (route: string, params: Record<string, unknown>) => {
      const { results } = await gateway.get({ routes: [{ route, params }], session });
      return results.flatMap((each) => (each.ok ? each.data.guidance.map((step) => step.route) : []));
    };
    expect(await next(ANALYST, { query: "fraud user X" })).toContain(INVESTIGATION);
    expect(await next(INVESTIGATION, { user_id: "X" })).toEqual([
      "logs://tools/hidden/user-activity",
      "warehouse://tools/hidden/fincrime-review",
    ]);
    expect(await next(INVESTIGATION, { user_id: "Y" })).toEqual([
      "logs://tools/hidden/user-activity",
      "support://tools/hidden/vip-ticket",
    ]);
    expect((await gateway.session(session)).memory.unveiled).toContain("logs://tools/hidden/user-activity");
  });
});

describe("initialization", () => {
  test("ready: a search now gives what it will give later", async () => {
    const gateway = open(ALL);
    expect(await gateway.ready()).toMatchObject({ mode: "hybrid", waiting: 0 });
    const asked = async () => (await gateway.ask({ query: "money that customers spent" })).text;
    expect(await asked()).toBe(await asked());
  });

  test("ready says that vectors are still coming", async () => {
    const embedded = Promise.withResolvers<void>();
    const embedder = {
      id: "slow",
      dimensions: 2,
      embed: async (texts: readonly string[]) => {
        await embedded.promise;
        return texts.map(() => Float32Array.of(1, 0));
      },
    };
    const index = createEmbeddedIndex({ embedder });
    const gateway = open([LOGS], { index });
    expect(await gateway.ready()).toMatchObject({ mode: "lexical", waiting: 1 });
    embedded.resolve();
    await index.settled();
    expect(await gateway.ready()).toMatchObject({ mode: "hybrid", waiting: 0 });
  });

  test("instructions know the counts of domains, routes and resources", async () => {
    const gateway = open(ALL);
    const root = await gateway.help({ path: "" });
    if (root.kind !== "directory") throw root;
    expect(root.groups.find(({ path }) => path === "warehouse")?.count).toBe(18);
  });
});

describe("scopes", () => {
  const guarded: DomainDefinition = {
    ...createWarehouse({ requiredScopes: ["internal"] }),
    extractors: createWarehouse().extractors!.map((extractor) => ({ ...extractor, scopes: ["admin"] })),
  };
  const withScopes = (...scopes: string[]) => ({ principal: { id: "bob", scopes, allowWrite: true } });
  const ORDERS = "warehouse://resources/facts/fact_orders";

  test("scopes cascade from domain to route to resource", async () => {
    const gateway = open([guarded], { missingScope: "ACCESS_DENIED" });
    const codeOf = async (route: string, ...scopes: string[]) => {
      const { results } = await gateway.get(
        { routes: [{ route, params: { sql: "select 1" } }] },
        withScopes(...scopes),
      );
      return results[0]?.ok ? "" : results[0]?.error.code;
    };
    expect(await codeOf(ANALYST)).toBe("ACCESS_DENIED");
    expect(await codeOf(ANALYST, "internal")).toBe("");
    expect(await codeOf(QUERY, "internal")).toBe("ACCESS_DENIED");
    expect(await codeOf(QUERY, "sql-write")).toBe("ACCESS_DENIED");
    expect(await codeOf(QUERY, "internal", "sql-write")).toBe("");
    expect(await codeOf(ORDERS, "internal")).toBe("ACCESS_DENIED");
    expect(await codeOf(ORDERS, "internal", "admin")).toBe("");
    expect(await codeOf("warehouse://tools/nothing")).toBe("NOT_FOUND");
  });

  test("a refusal names no scope to the caller, and an event names it to the owner", async () => {
    const notices: unknown[] = [];
    const isNotice = (event: KeyholeEvent) => event.type === "notice" && event.notice === "scope-missing";
    onTestFinished(onEvent((event) => isNotice(event) && notices.push(event)));
    for (const missingScope of ["NOT_FOUND", "ACCESS_DENIED"] as const) {
      notices.length = 0;
      const gateway = open([guarded], { missingScope });
      const caller = withScopes("internal");
      const answers = [
        await gateway.get({ routes: [{ route: QUERY, params: { sql: "" } }] }, caller),
        await gateway.exec({ route: QUERY, args: { sql: "" } }, caller),
        await gateway.help({ path: "warehouse.hidden.query" }, caller),
      ];
      for (const answer of answers) {
        expect(answer).toMatchObject({ ok: false, error: { code: missingScope } });
        expect(answer.text).not.toContain("sql-write");
      }
      const notice = {
        type: "notice",
        notice: "scope-missing",
        principal: "bob",
        detail: `${QUERY} needs the scope sql-write`,
      };
      expect(notices).toEqual(answers.map(() => expect.objectContaining(notice)));
    }
  });
});

describe("lifecycle", () => {
  test("restart, rebuild and refresh of one source keep what was indexed", async () => {
    const gateway = open([createWarehouse()], { principal: ALICE });
    const [first] = await gateway.sources.status();
    expect(first).toMatchObject({ id: expect.stringContaining("warehouse"), count: 2, isFresh: true });
    await gateway.sources.refresh();
    await gateway.sources.refresh(first!.id);
    await gateway.sources.rebuild();
    const { hits } = await gateway.ask({ query: "order_id" });
    expect(hits.map(({ route }) => route)).toContain(
      "warehouse://resources/facts/fact_orders/columns/order_id",
    );
  });
});
