// Walks the document about routes and guidance (Ernesto): how its domains are searched.
import { type DomainDefinition, defineDomain, loadTokenCounter } from "keyhole";
import { createTypesenseIndex } from "keyhole/postgres";
import { createEmbeddedIndex } from "keyhole/search";
import { describe, expect, onTestFinished, test } from "vitest";
import { TypesenseStub } from "../typesense-stub.ts";
import { ALL, ANALYST, createWarehouse, document, open, TASKS } from "./ernesto-domains.ts";

const countTokens = await loadTokenCounter();

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
    const { text, hits } = await open(domains).ask({ query: "guide me" });
    expect(countTokens(text)).toBeLessThanOrEqual(700);
    const line = text.split("\n").find((each) => each.startsWith("Entry points left out of:")) ?? "";
    const shown = new Set(hits.map(({ domain }) => domain));
    const named = new Set(line.match(/area\d+/g));
    expect(shown.union(named)).toEqual(new Set(domains.map(({ name }) => name)));
    expect(shown.isDisjointFrom(named)).toBe(true);
    const tight = await open(domains).ask({ query: "guide me", maxTokens: 100 });
    expect(countTokens(tight.text)).toBeLessThanOrEqual(100);
    expect(tight.text).toMatch(/Entry points left out of: area\d+.* and \d+ more/);
    // The menu names the domains. An answer that is sure keeps to its own.
    const sure = await open(domains).ask({ query: "area7" });
    expect(sure.hits.map(({ domain }) => domain)).toEqual(["area7"]);
    expect(sure.text).not.toContain("left out");
  });

  test("words are not drowned by the words of their own domain, also before vectors are there", async () => {
    const never = { id: "never", dimensions: 4, embed: () => new Promise<Float32Array[]>(() => {}) };
    for (const index of [createEmbeddedIndex(), createEmbeddedIndex({ embedder: never }), undefined]) {
      const { hits } = await open([TASKS], index && { index }).ask({ query: "create a task" });
      expect(hits[0]?.op).toBe("onto.task.create");
    }
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
