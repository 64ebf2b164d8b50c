// Walks the document about routes and guidance (Ernesto): its domains, calls and codes, as they are written.
import { type DomainDefinition, defineDomain, defineResource, loadTokenCounter, onEvent } from "keyhole";
import { createEmbeddedIndex, createTypesenseIndex } from "keyhole/search";
import { describe, expect, onTestFinished, test } from "vitest";
import { TypesenseStub } from "../typesense-stub.ts";
import {
  ALICE,
  ANALYST,
  createWarehouse,
  INVESTIGATION,
  LOGS,
  open,
  QUERY,
  SUPPORT,
} from "./ernesto-domains.ts";

const countTokens = await loadTokenCounter();
const ALL = [createWarehouse(), LOGS, SUPPORT];
const nobody = { id: "nobody", scopes: [], allowWrite: false };

function document(path: string, description: string, metadata: Record<string, unknown> = {}) {
  return defineResource({
    route: `library://resources/${path}`,
    name: path,
    description,
    metadata,
    fetch: () => ({ content: `# ${path}` }),
  });
}

describe("routes", () => {
  test.each([ANALYST, QUERY, "warehouse://resources/facts/fact_orders", "logs://tools/hidden/user-activity"])(
    "%s is the address of one entry",
    async (route) => {
      const { results } = await open(ALL).get({ routes: [{ route, params: { sql: "select 1" } }] });
      expect(results).toMatchObject([{ route, success: true }]);
    },
  );
});

describe("domain search configuration", () => {
  test('ask("orders") gives the way in, then columns, most specific, then tables', async () => {
    const { text } = await open(ALL).ask({ query: "orders", domain: "warehouse" });
    const lines = text.split("\n").filter((line) => line.startsWith("- "));
    expect(lines[0]).toContain(ANALYST);
    expect(lines.filter((line) => line.includes("/columns/"))).toEqual(lines.slice(1, 11));
    expect(lines.slice(11).join("\n")).toContain("warehouse://resources/facts/fact_orders");
    expect(lines.length).toBeLessThanOrEqual(1 + 10 + 5);
  });

  test("the text has routes first, then resources", async () => {
    const { text } = await open(ALL).ask({ query: "orders" });
    const [first, second] = text.split("\n");
    expect(first).toBe("## warehouse: Data warehouse access - query orders, users, analytics");
    expect(second).toContain(ANALYST);
    expect(text).toContain("warehouse://resources/facts/fact_orders");
  });

  test("each segment is searched for itself, however many better hits another has", async () => {
    const many = Array.from({ length: 300 }, (_, at) =>
      document(`column-${at}`, "orders orders orders", { resource_type: "column" }),
    );
    const table = document("table", "A table that also mentions orders once", { resource_type: "table" });
    const library = defineDomain({
      ...createWarehouse(),
      name: "library",
      tools: [],
      extractors: [],
      resources: [...many, table],
    });
    const { hits } = await open([library]).ask({ query: "orders", maxTokens: 2_000 });
    expect(hits).toHaveLength(11);
    expect(hits.at(-1)?.name).toBe("table");
  });

  test.each<[string, DomainDefinition["searchConfig"], string]>([
    ["a filter", { segments: [segment("resource_type:column")] }, "resource_type:=column"],
    ["two conditions", { segments: [segment("resource_type:=column && domain:=a")] }, "key:=value"],
    ["a field of a filter", { segments: [segment("resource_typ:=column")] }, "resource_type"],
    ["a field of queryBy", { queryBy: "desciption,name" }, "description"],
    ["weights", { queryBy: "description,name,content", weights: "4,2" }, "3"],
    ["a weight", { queryBy: "description,name", weights: "4,much" }, "much"],
    ["weights without queryBy", { weights: "4,2" }, "queryBy"],
  ])("%s that search cannot follow is refused at the start", (_, searchConfig, hint) => {
    expect(() => open([createWarehouse({ searchConfig })])).toThrow(
      expect.objectContaining({ code: "CATALOG_INVALID", message: expect.stringContaining(hint) }),
    );
  });

  function segment(filter: string) {
    return { name: "columns", filter, limit: 10, priority: 1 };
  }
});

describe("ask", () => {
  test('{ query: "investigate fraud patterns", domain: "warehouse", perDomain: 10 } keeps to the domain', async () => {
    const { hits } = await open(ALL).ask({
      query: "investigate fraud patterns",
      domain: "warehouse",
      perDomain: 10,
    });
    expect(hits[0]?.route).toBe(ANALYST);
    expect(new Set(hits.map((hit) => hit.domain))).toEqual(new Set(["warehouse"]));
  });

  test("perDomain bounds each domain's hits, also related ones, and the default limit does not cut it", async () => {
    const domains = ["one", "two", "three"].map((name) =>
      defineDomain({
        name,
        description: `The domain ${name}.`,
        tools: Array.from({ length: 9 }, (_, at) => ({
          name: `walrus_${at}`,
          description: "Counts walruses.",
          lane: "read" as const,
          relatedTools: ["extra"],
          execute: () => at,
        })).concat({
          name: "extra",
          description: "Nothing of the kind.",
          lane: "read",
          relatedTools: [],
          execute: () => 0,
        }),
      }),
    );
    const counts = async (perDomain: number) => {
      const { hits } = await open(domains).ask({ query: "walrus", perDomain, maxTokens: 5_000 });
      return Object.values(Object.groupBy(hits, ({ domain }) => domain)).map((group) => group?.length);
    };
    expect(await counts(7)).toEqual([7, 7, 7]);
    expect(await counts(2)).toEqual([2, 2, 2]);
  });

  test("searchable routes of every domain are always returned, hidden ones never", async () => {
    const gateway = open(ALL);
    for (const query of ["investigate fraud", "warehouse analyst", "qqq", "order_id"]) {
      const { hits, text } = await gateway.ask({ query });
      const routes = hits.map(({ route }) => route);
      expect(routes, query).toContain(ANALYST);
      expect(routes, query).toContain("logs://tools/investigator");
      expect(text, query).not.toContain("/hidden/");
    }
  });

  test("if there are too many for the budget, one line names every domain that was left out", async () => {
    const domains = Array.from({ length: 60 }, (_, at) =>
      defineDomain({
        name: `area${at}`,
        description: `The area number ${at} with a description of some length.`,
        tools: [
          {
            name: "guide",
            route: `area${at}://tools/guide`,
            description: `Guides you through everything in area ${at}, step by step, with care.`,
            searchable: true,
            execute: () => "",
          },
        ],
      }),
    );
    const { text, hits } = await open(domains).ask({ query: "area7" });
    expect(countTokens(text)).toBeLessThanOrEqual(700);
    const line = text.split("\n").find((each) => each.startsWith("Entry points left out of:")) ?? "";
    const shown = new Set(hits.map(({ domain }) => domain));
    const named = new Set(line.match(/area\d+/g));
    expect(shown.union(named)).toEqual(new Set(domains.map(({ name }) => name)));
    expect(shown.isDisjointFrom(named)).toBe(true);
    const tight = await open(domains).ask({ query: "area7", maxTokens: 100 });
    expect(countTokens(tight.text)).toBeLessThanOrEqual(100);
    expect(tight.text).toMatch(/Entry points left out of: area\d+.* and \d+ more/);
  });

  test("words are not drowned by the words of their own domain, also before vectors are there", async () => {
    const task = (name: string, description: string) => ({ name, description, execute: () => "" });
    const domain = defineDomain({
      name: "onto",
      description: "Task management: tasks, task lists, task plans and all about a task.",
      tools: [
        task("create_plan", "Create a plan."),
        task("create_task", "Create a task."),
        task("create_goal", "Create a goal."),
        task("list_tasks", "List tasks."),
      ],
    });
    const never = { id: "never", dimensions: 4, embed: () => new Promise<Float32Array[]>(() => {}) };
    for (const index of [createEmbeddedIndex(), createEmbeddedIndex({ embedder: never }), undefined]) {
      const { hits } = await open([domain], index && { index }).ask({ query: "create a task" });
      expect(hits[0]?.op).toBe("onto.task.create");
    }
  });
});

describe("get", () => {
  test("answers with content and guidance of each route, and a summary", async () => {
    const { results, summary } = await open(ALL).get({
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

  test("one failure does not break the batch, and each has its code", async () => {
    const { results, summary } = await open(ALL, { missingScope: "ACCESS_DENIED" }).get(
      {
        routes: [
          { route: "warehouse://tools/hidden/nothing" },
          { route: QUERY, params: { sql: "select 1" } },
          { route: INVESTIGATION, params: {} },
          { route: ANALYST },
        ],
      },
      { principal: nobody },
    );
    const codes = results.map((result) => (result.success ? "" : result.error.code));
    expect(codes).toEqual(["NOT_FOUND", "ACCESS_DENIED", "INVALID_PARAMS", ""]);
    expect(summary).toEqual({ total: 4, success: 1, failed: 3 });
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
    const session = gateway.openSession();
    const found = await gateway.ask({ query: "fraud investigation user X", session });
    expect(found.hits.map(({ route }) => route)).toEqual(
      expect.arrayContaining([ANALYST, "logs://tools/investigator"]),
    );
    const next = async (route: string, params: Record<string, unknown>) => {
      const { results } = await gateway.get({ routes: [{ route, params }], session });
      return results.flatMap((each) => (each.success ? each.data.guidance.map((step) => step.route) : []));
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
    expect(gateway.session(session).memory.unveiled).toContain("logs://tools/hidden/user-activity");
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

describe("content extraction", () => {
  test("resources have the document's addresses", async () => {
    const { results } = await open(ALL).get({
      routes: [
        { route: "warehouse://resources/facts/fact_orders/columns/order_id" },
        { route: "warehouse://resources/dimensions/dim_user/columns/user_id" },
      ],
    });
    expect(results).toMatchObject([
      { data: { content: expect.stringContaining("Unique order identifier") } },
      { data: { content: expect.stringContaining("Unique user identifier") } },
    ]);
  });

  test("quality scores rank documents that match alike", async () => {
    const scored = (path: string, quality_score?: number) =>
      document(path, "How refunds work", quality_score === undefined ? {} : { quality_score });
    const library = defineDomain({
      name: "library",
      description: "Documents.",
      resources: [scored("p1", 10), scored("p2"), scored("p3", 90), scored("p4", 50), scored("p5", 1e9)],
    });
    const index = createEmbeddedIndex();
    const { hits } = await open([library], { index }).ask({ query: "refunds", limit: 5 });
    expect(hits.map(({ name }) => name)).toEqual(["p5", "p3", "p2", "p4", "p1"]);
  });

  test("a quality score does not outweigh a better match", async () => {
    const library = defineDomain({
      name: "library",
      description: "Documents.",
      resources: [
        document("refunds", "How refunds work", { quality_score: 0 }),
        document("other", "About shipping, which mentions refunds and much else besides", {
          quality_score: 100,
        }),
      ],
    });
    const { hits } = await open([library]).ask({ query: "how do refunds work" });
    expect(hits[0]?.name).toBe("refunds");
  });

  test("Typesense gets the fields, weights, filters and order of the domain", async () => {
    const stub = new TypesenseStub();
    const index = createTypesenseIndex({ url: await stub.start(), apiKey: "key" });
    onTestFinished(() => stub.stop());
    const gateway = open(ALL, { index });
    await gateway.ask({ query: "orders", domain: "warehouse" });
    const [general, columns, tables] = stub.searches;
    const weightsOf = (search: Record<string, unknown> | undefined) => {
      const weights = String(search?.query_by_weights).split(",").map(Number);
      const fields = String(search?.query_by).split(",");
      return Object.fromEntries(fields.map((field, at) => [field, weights[at]]));
    };
    for (const search of [general, columns, tables]) {
      const weights = weightsOf(search);
      expect(weights.description_words).toBeGreaterThan(weights.name_words!);
      expect(weights.name_words).toBeGreaterThan(weights.content_words!);
      expect(weights.parameter_words).toBeUndefined();
      expect(search?.filter_by).toContain("domain:=`warehouse`");
      expect(search?.sort_by).toBe("_text_match:desc,quality_score:desc,uri:asc");
    }
    expect(columns?.filter_by).toContain("resource_type:=column");
    expect(tables?.filter_by).toContain("resource_type:=table");
  });

  test("Typesense searches each domain that has weights by its own", async () => {
    const stub = new TypesenseStub();
    const index = createTypesenseIndex({ url: await stub.start(), apiKey: "key" });
    onTestFinished(() => stub.stop());
    const { hits } = await open(ALL, { index }).ask({ query: "investigation orders" });
    const filters = stub.searches.slice(0, 2).map(({ filter_by }) => String(filter_by));
    expect(filters).toEqual([
      expect.stringContaining("domain:!=[`warehouse`]"),
      expect.stringContaining("domain:=`warehouse`"),
    ]);
    expect(new Set(hits.map(({ domain }) => domain))).toEqual(new Set(["warehouse", "logs"]));
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
      return results[0]?.success ? "" : results[0]?.error.code;
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
    onTestFinished(onEvent((event) => event.type === "notice" && notices.push(event)));
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

  test("by default what a caller may not see is as unknown as what does not exist", async () => {
    const gateway = open([guarded, LOGS]);
    const caller = withScopes("internal");
    const answerOf = async (route: string) => {
      const { text } = await gateway.get({ routes: [{ route }] }, caller);
      return text.replaceAll(route, "…");
    };
    expect(await answerOf("warehouse://tools/hidden/query")).toBe(
      await answerOf("warehouse://tools/hidden/qqqqq"),
    );
    const { text } = await gateway.ask({ query: "order_id" }, caller);
    expect(text).not.toContain("fact_orders");
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
