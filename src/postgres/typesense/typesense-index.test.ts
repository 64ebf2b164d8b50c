import { createGateway, defineDomain, defineTool } from "keyhole";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { TypesenseStub } from "../../../test/typesense-stub.ts";
import type { SearchIndex } from "../../search/port/search-index.ts";
import { describeIndex } from "../../testing/describe-index.ts";
import { documentOf, idsOf, SURROUNDINGS } from "../../testing/index-behaviours/index-behaviour.ts";
import { toResourceDocument } from "./resource-document.ts";
import { filterBy } from "./search-params.ts";
import { createTypesenseIndex } from "./typesense-index.ts";

const server = process.env.TYPESENSE_URL;
if (server === undefined || server === "") {
  const title = "Typesense server (skipped: TYPESENSE_URL is not set)";
  console.info(title);
  test.skip(title, () => {});
} else {
  let collections = 0;
  const apiKey = process.env.TYPESENSE_API_KEY ?? "";
  const create = (): SearchIndex =>
    createTypesenseIndex({ url: server, apiKey, collection: `keyhole_${process.pid}_${collections++}` });
  describeIndex("Typesense", create, { describe, test });
}

describe("createTypesenseIndex", () => {
  const apiKey = "key-that-stays-secret";
  let stub: TypesenseStub;
  let index: SearchIndex;
  let url: string;

  beforeEach(async () => {
    stub = new TypesenseStub();
    url = await stub.start();
    index = createTypesenseIndex({ url, apiKey, timeoutMs: 2_000 });
  });
  afterEach(() => stub.stop());

  test("creates the collection once and sends the key in a header only", async () => {
    expect(await idsOf(index, "walrus")).toEqual([]);
    await index.drop(["doc"]);
    await index.put([documentOf({ id: "doc", name: "walrus" })]);
    await index.put([documentOf({ id: "doc", name: "walrus" })]);
    const made = stub.received.filter(({ method, path }) => method === "POST" && path === "/collections");
    expect(made).toHaveLength(1);
    expect(JSON.parse(made[0]!.body)).toMatchObject({
      name: "keyhole_entries",
      fields: expect.arrayContaining([expect.objectContaining({ name: "is_unrestricted", type: "bool" })]),
    });
    for (const { key, path, body } of stub.received) {
      expect(key).toBe(apiKey);
      expect(path + body).not.toContain(apiKey);
    }
  });

  /** The collection of another system, whose documents ours would fit into. */
  const OTHER = ["uri", "name", "content", "domain"].map((name) => ({ name, type: "string" }));

  test("a collection of another schema is told, with what to do", async () => {
    stub.fields = OTHER;
    const put = index.put([documentOf({ id: "doc", name: "walrus" })]);
    await expect(put).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(
        /keyhole_entries.*lacks the field path_segment.*another `collection`.*rebuild\(\).*drops it/,
      ),
    });
    expect(stub.documents.size).toBe(0);
    await expect(idsOf(index, "walrus")).rejects.toThrow("another `collection`");
    stub.fields = [{ name: "uri", type: "int32" }, ...OTHER.slice(1)];
    await expect(index.put([])).rejects.toThrow("has another type for the field uri");
  });

  test("a rebuild of a gateway drops the collection, creates it, and finds everything again", async () => {
    stub.fields = OTHER;
    const tool = defineTool({ name: "feed_walrus", description: "Feeds a walrus.", execute: () => "fed" });
    const domains = [defineDomain({ name: "zoo", description: "A zoo.", tools: [tool] })];
    const gateway = createGateway({ domains, index });
    onTestFinished(() => gateway.close());
    const before = await gateway.ask({ query: "walrus" });
    expect(before).toMatchObject({ ok: false, text: expect.stringContaining("another `collection`") });
    await gateway.sources.rebuild();
    expect((await gateway.ask({ query: "walrus" })).hits).toMatchObject([{ name: "feed_walrus" }]);
    expect(stub.received.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  });

  test("a rebuild that did not help says so", async () => {
    const tool = defineTool({ name: "feed_walrus", description: "Feeds a walrus.", execute: () => "fed" });
    const domains = [defineDomain({ name: "zoo", description: "A zoo.", tools: [tool] })];
    const broken = createTypesenseIndex({ url, apiKey, timeoutMs: 2_000 });
    const gateway = createGateway({ domains, index: { ...broken, search: async () => [] } });
    onTestFinished(() => gateway.close());
    await expect(gateway.sources.rebuild()).rejects.toThrow(/rebuilt.*finds nothing/);
    const failing = createGateway({
      domains,
      index: { ...broken, search: () => Promise.reject(new Error("down")) },
    });
    onTestFinished(() => failing.close());
    await expect(failing.sources.rebuild()).rejects.toThrow(/rebuilt.*down/);
  });

  test("documents that the caller may not see change neither hits nor their order, and corrections are all tried", async () => {
    const shown = Array.from({ length: 30 }, (_, at) =>
      documentOf({ id: `shown${at}`, name: `walrus ${at}` }),
    );
    await index.put(shown);
    const alone = await idsOf(index, "walrus", {}, 20);
    expect(alone).toHaveLength(20);
    const secrets = Array.from({ length: 300 }, (_, at) =>
      documentOf({ id: `a${at}`, name: "walrus", scopes: at % 2 === 0 ? ["secret"] : ["held", "secret"] }),
    );
    await index.put(secrets);
    expect(await idsOf(index, "walrus", {}, 20)).toEqual(alone);
    expect(await idsOf(index, "walrus", { scopes: ["held"] }, 20)).toEqual(alone);
    for (const search of stub.searches) expect(search).toMatchObject({ exhaustive_search: true });
  });

  test("maps a document to the fields of the collection, with its words analysed", () => {
    const document = documentOf({
      id: "shop://tools/orders/getOrders",
      name: "getOrders",
      description: "Lists the orders",
      content: "left out",
      scopes: ["a`b"],
      tags: ["100%"],
      weights: { content: 0 },
    });
    expect(toResourceDocument(document)).toMatchObject({
      id: Buffer.from("shop://tools/orders/getOrders").toString("base64url"),
      uri: "shop://tools/orders/getOrders",
      path: "tools/orders/getOrders",
      path_segment: "tools",
      domain: "shop",
      resource_type: "tool",
      scopes: ["a%60b"],
      is_unrestricted: false,
      tags: ["100%25"],
      name_keys: ["getorders"],
      name_words: "get ord getord",
      content_words: "",
    });
  });

  test("stores the facts that a source gives", () => {
    const facts = {
      resource_type: "column",
      path_segment: "facts",
      quality_score: 50,
      source_id: "warehouse:TableSchema:fact_*",
      indexed_at: 1_705_600_000_000,
    };
    const id = "warehouse://resources/facts/fact_orders/columns/order_id";
    expect(toResourceDocument(documentOf({ id, name: "order_id", kind: "resource", facts }))).toMatchObject({
      ...facts,
      kind: "resource",
      path: "facts/fact_orders/columns/order_id",
    });
  });

  test("quotes every value of a filter in backticks that no value can close", () => {
    expect(filterBy({ scopes: [] })).toBe("is_unrestricted:=true");
    expect(filterBy({ scopes: ["a", "x] || y"] })).toBe("(is_unrestricted:=true || scopes:=[`a`,`x] || y`])");
    const hostile = "`] || is_unrestricted:=false && domain:=`";
    const filter = filterBy({
      scopes: [hostile],
      domain: hostile,
      categories: [hostile],
      tags: [hostile, "b"],
    });
    expect(filter.split("`")).toHaveLength(1 + 2 * 5);
    expect(filter).toContain("%60] || is_unrestricted:=false && domain:=%60");
  });

  test("searches for analysed words without operators", async () => {
    await index.put(SURROUNDINGS);
    for (const query of ['-getUserInfo "x" *', "weather\0 `x` || :="]) await idsOf(index, query);
    for (const { q } of stub.searches) expect(q).toMatch(/^[\p{L}\p{N}\p{M} ]+$/u);
    const before = stub.searches.length;
    for (const query of ["", "*", "!?", "\0"]) expect(await idsOf(index, query)).toEqual([]);
    expect(stub.searches).toHaveLength(before);
  });

  test("fetches pages until the list is full of documents that the caller may see", async () => {
    const locked = Array.from({ length: 600 }, (_, at) =>
      documentOf({ id: `a-${at}`, name: "walrus", scopes: ["read", "write"] }),
    );
    const open = Array.from({ length: 5 }, (_, at) =>
      documentOf({ id: `z-${at}`, name: "walrus", scopes: ["read"] }),
    );
    await index.put([...locked, ...open]);
    expect(await idsOf(index, "walrus", { scopes: ["read"] }, 3)).toEqual(["z-0", "z-1", "z-2"]);
    expect(stub.searches.length).toBeGreaterThan(10);
    expect(await idsOf(index, "walrus", { scopes: [] }, 3)).toEqual([]);
    expect(await idsOf(index, "walrus", { scopes: ["read", "write"] }, 2)).toEqual(["a-0", "a-1"]);
  });

  test("checks every hit again, whatever the engine returned", async () => {
    await index.put([
      documentOf({ id: "a", name: "walrus", domain: "sea", category: "cold", tags: ["big", "100%"] }),
      documentOf({ id: "b", name: "walrus", domain: "Sea", kind: "skill", category: "Cold", tags: ["big"] }),
    ]);
    expect(await idsOf(index, "walrus", { domain: "sea" })).toEqual(["a"]);
    expect(await idsOf(index, "walrus", { kinds: ["skill"] })).toEqual(["b"]);
    expect(await idsOf(index, "walrus", { categories: ["cold"] })).toEqual(["a"]);
    expect(await idsOf(index, "walrus", { tags: ["100%", "big"] })).toEqual(["a"]);
  });

  test("deletes hidden and dropped documents, whatever their ids", async () => {
    const ids = ["it's", "a`b", "\0", "half\ud800", "日本://天気"];
    await index.put(ids.map((id) => documentOf({ id, name: "walrus" })));
    expect((await idsOf(index, "walrus")).sort()).toEqual([...ids].sort());
    await index.put([documentOf({ id: "a`b", name: "walrus", visibility: "hidden" })]);
    await index.drop(ids.slice(2));
    expect(await idsOf(index, "walrus")).toEqual(["it's"]);
  });

  test("says what failed without the key", async () => {
    await expect(index.put([documentOf({ id: "doc", name: "refuse me" })])).rejects.toMatchObject({
      code: "INTERNAL",
      message: expect.stringContaining("Bad document."),
    });
    stub.failure = { status: 401, body: `no such key: ${apiKey}` };
    await expect(idsOf(index, "walrus")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    stub.failure = { status: 500, body: `broken with ${apiKey} ${"x".repeat(10_000)}` };
    const failed = await idsOf(index, "walrus").catch((error: Error) => error.message);
    expect(failed).toContain("status 500: broken with …");
    expect(failed).not.toContain(apiKey);
    expect(failed.length).toBeLessThan(400);
    stub.failure = "hang";
    await expect(idsOf(index, "walrus")).rejects.toMatchObject({ code: "TIMEOUT" });
    await stub.stop();
    await expect(idsOf(index, "walrus")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("follows no redirect, so the key stays with its server", async () => {
    const other = new TypesenseStub();
    const location = await other.start();
    onTestFinished(() => other.stop());
    stub.failure = { status: 307, body: "", headers: { location } };
    await expect(idsOf(index, "walrus")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(other.received).toEqual([]);
  });

  test("says so if the answer is not JSON", async () => {
    stub.failure = { status: 200, body: "<html>" };
    await expect(idsOf(index, "walrus")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("limits the size of an answer", async () => {
    const patient = createTypesenseIndex({ url, apiKey, timeoutMs: 60_000 });
    stub.failure = { status: 200, body: " ".repeat(17 * 2 ** 20) };
    await expect(idsOf(patient, "walrus")).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  });

  test("refuses invalid options", () => {
    const invalid = expect.objectContaining({ code: "INVALID_INPUT" });
    expect(() => createTypesenseIndex({ url: "ftp://x", apiKey })).toThrow(invalid);
    expect(() => createTypesenseIndex({ url: "nothing", apiKey })).toThrow(invalid);
    expect(() => createTypesenseIndex({ url, apiKey, collection: "a/b" })).toThrow(invalid);
  });
});
