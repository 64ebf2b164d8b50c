// Walks the document about routes and guidance (Ernesto): its two tools over MCP, its content and its lifecycle.
import { createToolbox } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { createTypesenseIndex } from "keyhole/postgres";
import { contentFormats, contentSources } from "keyhole/sources";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { manualClock } from "../manual-clock.ts";
import { connect, ERAS } from "../mcp/connect.ts";
import { TypesenseStub } from "../typesense-stub.ts";
import { ALL, ANALYST, createWarehouse, LOGS, open, QUERY, WarehouseSource } from "./ernesto-domains.ts";

const HOUR = 60 * 60_000;
const WAIT = { timeout: 30_000, interval: 5 };

describe("the two operations", () => {
  test.each(ERAS)("a client of %s sees exactly ask and get", async (era) => {
    const { client } = await connect(createMcpServer(open(ALL), { surface: "routes" }), era);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["ask", "get"]);
    const call = async (name: string, args: Record<string, unknown>) => {
      const { content } = await client.callTool({ name, arguments: args });
      return (content as { text: string }[]).map(({ text }) => text).join("\n");
    };
    const asked = await call("ask", {
      query: "investigate fraud patterns",
      domain: "warehouse",
      perDomain: 10,
    });
    expect(asked).toContain("## warehouse: Data warehouse access - query orders, users, analytics");
    expect(asked).toContain(`- ${ANALYST}(query?: string, include_all_tables?: boolean)`);
    const got = await call("get", {
      routes: [{ route: ANALYST, params: { query: "..." } }, { route: "logs://tools/investigator" }],
    });
    expect(got).toContain("# Analyst Guide");
    expect(got).toContain(`${QUERY}(sql: string): Execute custom SQL against the warehouse`);
    expect(got).toContain("# Log Investigator");
  });

  test("hidden tools run by their route, and are in no menu", async () => {
    const toolbox = await createToolbox(open(ALL), { surface: "routes" });
    expect(JSON.stringify(toolbox.tools)).not.toContain("hidden");
    const { text } = await toolbox.call("get", { routes: [{ route: QUERY, params: { sql: "select 1" } }] });
    expect(text).toContain("| order_id |");
  });
});

describe("content extraction", () => {
  test("has the document's sources and formats", () => {
    expect(Object.keys(contentSources)).toEqual(
      expect.arrayContaining(["local", "github", "clickUp", "qase", "postgres", "drive"]),
    );
    expect(Object.keys(contentFormats)).toEqual(
      expect.arrayContaining(["markdown", "pr", "commit", "tableSchema", "qaseSuite", "clickUpDoc"]),
    );
  });

  test("a column is the document's McpResourceDocument in Typesense", async () => {
    const stub = new TypesenseStub();
    const index = createTypesenseIndex({ url: await stub.start(), apiKey: "key" });
    onTestFinished(() => stub.stop());
    const [facts] = createWarehouse().extractors!;
    const warehouse = createWarehouse({ extractors: [{ ...facts!, scopes: ["analytics"] }] });
    const gateway = open([warehouse], { index });
    await gateway.ready();
    const uri = "warehouse://resources/facts/fact_orders/columns/order_id";
    const id = Buffer.from(uri).toString("base64url");
    expect(stub.documents.get(id)).toMatchObject({
      id,
      uri,
      domain: "warehouse",
      path: "facts/fact_orders/columns/order_id",
      source_id: expect.stringContaining("warehouse"),
      name: "order_id",
      description: "Unique order identifier",
      scopes: ["analytics"],
      is_unrestricted: false,
      resource_type: "column",
      path_segment: "facts",
      indexed_at: expect.any(Number),
    });
    const others = [...stub.documents.values()].filter(({ kind }) => kind === "tool");
    for (const document of others) expect(document.is_unrestricted, document.uri).toBe(true);
  });
});

describe("lifecycle", () => {
  class CountedSource extends WarehouseSource {
    readonly fetched: string[] = [];
    override async fetchContent(id: string) {
      this.fetched.push(id);
      return await super.fetchContent(id);
    }
  }

  test("a source is fresh for four hours, and a restart reads only what is stale", async () => {
    const clock = manualClock();
    const source = new CountedSource({ tablePattern: /^fact_/ });
    const extractors = [{ source, formats: [contentFormats.tableSchema()], basePath: "facts" }];
    const gateway = open([createWarehouse({ extractors }), LOGS], { clock });
    await gateway.ready();
    const [{ id, ttlMs, isFresh } = expect.fail()] = await gateway.sources.status();
    expect({ ttlMs, isFresh }).toEqual({ ttlMs: 4 * HOUR, isFresh: true });
    const first = source.fetched.length;
    await gateway.sources.refresh();
    expect(source.fetched).toHaveLength(first);
    await gateway.sources.refresh(id);
    expect(source.fetched.length).toBeGreaterThan(first);
    const second = source.fetched.length;
    expect(await gateway.sources.rebuild()).toMatchObject({ wasFresh: true, failed: [] });
    expect(source.fetched.length).toBeGreaterThan(second);
    const third = source.fetched.length;
    await clock.advance(4 * HOUR);
    await vi.waitFor(() => expect(source.fetched.length).toBeGreaterThan(third), WAIT);
  });
});
