// Walks the plan of dynamic tool injection: its CMS tools, tool_search, rules, working memory and measures.
import { ToolLoopAgent } from "ai";
import {
  createGateway,
  defineDomain,
  defineTool,
  type Gateway,
  loadTokenCounter,
  startTelemetry,
} from "keyhole";
import { toAISDKTools } from "keyhole/ai-sdk";
import { createScriptedModel } from "keyhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { startCollector } from "../otlp-collector.ts";
import { converse, found, openCms, TOOL_INDEX, toolSearch } from "./cms-kit.ts";

const countTokens = await loadTokenCounter();

describe("phase 1: the tool index", () => {
  test("every tool of the plan is there, in its category", async () => {
    const { entries } = await openCms().view();
    for (const [category, names] of Object.entries(TOOL_INDEX)) {
      for (const name of names)
        expect(entries.find((entry) => entry.name === name)?.category, name).toBe(category);
    }
  });
});

describe("phases 2 and 3: words, vectors, and both", () => {
  test.each([
    ["find image", "cms_findImage"],
    ["create page", "cms_createPage"],
    ["what pages exist", "cms_listPages"],
    ["remove page", "cms_deletePage"],
    ["edit page", "cms_updatePage"],
    ["make page with sections", "cms_createPageWithContent"],
  ])("%s finds %s first", async (query, name) => {
    expect((await found(openCms(), query))[0]).toBe(name);
  });

  test("empty and very long queries are answered", async () => {
    const gateway = openCms();
    expect((await gateway.ask({ query: "" })).ok).toBe(true);
    expect((await gateway.ask({ query: "create page ".repeat(5_000) })).hits.length).toBeGreaterThan(0);
  });
});

describe("several languages, in the default install", () => {
  const QUERIES: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
    [
      "German",
      [
        ["Bild suchen", "cms_findImage"],
        ["eine neue Seite erstellen", "cms_createPage"],
        ["Beitrag löschen", "cms_deletePost"],
      ],
    ],
    [
      "French",
      [
        ["chercher une image", "cms_searchImages"],
        ["créer une nouvelle page", "cms_createPage"],
        ["mettre à jour la page", "cms_updatePage"],
      ],
    ],
    [
      "Spanish",
      [
        ["buscar una imagen", "cms_searchImages"],
        ["crear una página nueva", "cms_createPage"],
        ["eliminar la página", "cms_deletePage"],
      ],
    ],
    [
      "Portuguese",
      [
        ["procurar uma imagem", "cms_searchImages"],
        ["criar uma nova página", "cms_createPage"],
        ["apagar a página", "cms_deletePage"],
      ],
    ],
    [
      "Italian",
      [
        ["cercare un'immagine", "cms_searchImages"],
        ["creare una nuova pagina", "cms_createPage"],
        ["pubblicare un articolo", "cms_publishPost"],
      ],
    ],
    [
      "Dutch",
      [
        ["een afbeelding zoeken", "cms_searchImages"],
        ["een nieuwe pagina maken", "cms_createPage"],
        ["pagina verwijderen", "cms_deletePage"],
      ],
    ],
    [
      "Polish",
      [
        ["znajdź obraz", "cms_findImage"],
        ["utwórz nową stronę", "cms_createPage"],
        ["usuń stronę", "cms_deletePage"],
      ],
    ],
    [
      "Croatian",
      [
        ["pronađi sliku", "cms_findImage"],
        ["stvori novu stranicu", "cms_createPage"],
        ["izbriši stranicu", "cms_deletePage"],
      ],
    ],
    [
      "Chinese",
      [
        ["查找图片", "cms_searchImages"],
        ["创建页面", "cms_createPage"],
        ["删除页面", "cms_deletePage"],
      ],
    ],
    [
      "Japanese",
      [
        ["画像を検索する", "cms_searchImages"],
        ["新しいページを作成", "cms_createPage"],
        ["ページを削除", "cms_deletePage"],
      ],
    ],
    [
      "Korean",
      [
        ["이미지 검색", "cms_searchImages"],
        ["새 페이지 만들기", "cms_createPage"],
        ["페이지 삭제", "cms_deletePage"],
      ],
    ],
  ];

  test.each(QUERIES)("%s queries find English tools among the first three", async (_, queries) => {
    const gateway = openCms();
    for (const [query, name] of queries)
      expect((await found(gateway, query)).slice(0, 3), query).toContain(name);
  });

  test.each(["חיפוש תמונה", "ナビゲーションを更新"])(
    "where nothing matches (%s), the answer says which language the catalog speaks",
    async (query) => {
      const gateway = openCms();
      expect((await gateway.ask({ query })).text).toContain("this catalog is in English");
      expect((await toolSearch(gateway, { query })).instruction).toContain("this catalog is in English");
    },
  );
});

describe("phase 4: rules come with the tools", () => {
  test('tool_search({ query: "add image to section" }) brings the rules of its categories', async () => {
    const { tools, rules, instruction } = await toolSearch(openCms(), {
      query: "add image to section",
      limit: 5,
    });
    expect(tools.map(({ name }) => name)).toContain("cms_addImageToSection");
    for (const { description } of tools) expect(description).not.toBe("");
    expect(rules).toMatch(/closer to 0/i);
    expect(instruction).toBe("These tools are now available. Search again if you need more.");
  });
});

describe("phase 5: tool_search", () => {
  test("related tools fill up the answer, within the limit", async () => {
    const { tools } = await toolSearch(openCms(), { query: "update the image of a section", limit: 5 });
    expect(tools.length).toBeLessThanOrEqual(5);
    expect(tools.map(({ name }) => name)).toContain("cms_updateSectionImage");
  });

  test("related tools become available with the hit, before tools that only share a word", async () => {
    const names = ["export_ledger", "check_ledger_rights", "sign_archive", "ledger_colors", "ledger_fonts"];
    const tools = names.map((name) =>
      defineTool({
        name,
        description: name === "export_ledger" ? "Exports the ledger as a spreadsheet." : `About ${name}.`,
        relatedTools: name === "export_ledger" ? ["sign_archive", "check_ledger_rights"] : [],
        execute: () => name,
      }),
    );
    const gateway = createGateway({
      domains: [defineDomain({ name: "books", description: "Accounts.", tools })],
    });
    onTestFinished(() => gateway.close());
    const available = async (limit: number) => {
      const { tools } = await toolSearch(gateway, { query: "export the ledger as a spreadsheet", limit });
      return tools.map(({ name }) => name);
    };
    expect(await available(3)).toEqual(["export_ledger", "sign_archive", "check_ledger_rights"]);
    expect(await available(2)).toEqual(["export_ledger", "sign_archive"]);
    expect(await available(1)).toEqual(["export_ledger"]);
  });

  test("an empty result names the query, and a hint of this catalog instead of a website's", async () => {
    const pay = defineTool({
      name: "pay_invoice",
      op: "books.invoice.pay",
      description: "Pays an invoice.",
      execute: () => "paid",
    });
    const gateway = createGateway({
      domains: [defineDomain({ name: "books", description: "Accounts.", tools: [pay] })],
    });
    onTestFinished(() => gateway.close());
    const { tools, rules, instruction } = await toolSearch(gateway, { query: "zzzqqq" });
    expect({ tools, rules }).toEqual({ tools: [], rules: "" });
    expect(instruction).toContain('"zzzqqq"');
    expect(instruction).toContain('"pay invoice"');
    expect(instruction).toContain("answer without tools");
    expect(instruction).not.toMatch(/create page|find image|update section/);
    expect((await gateway.ask({ query: "zzzqqq" })).text).toContain('"pay invoice"');
  });
});

describe("phase 7: the agent", () => {
  test('type A: "What is a CMS section?" is answered directly', async () => {
    const { text, requests } = await converse(
      openCms(),
      [{ text: "A part of a page." }],
      "What is a CMS section?",
    );
    expect(text).toBe("A part of a page.");
    expect(requests.map(({ tools }) => tools)).toEqual([["tool_search"]]);
  });

  test('type B: "Find the hero image" is one discovery, then the tool', async () => {
    const gateway = openCms();
    const { requests } = await converse(
      gateway,
      [
        { calls: [{ name: "tool_search", args: { query: "find image" } }] },
        { calls: [{ name: "cms_searchImages", args: { query: "hero" } }] },
        { text: "Here it is." },
      ],
      "Find the hero image",
    );
    expect(requests[0]?.tools).toEqual(["tool_search"]);
    expect(requests[1]?.tools).toEqual(expect.arrayContaining(["tool_search", "cms_searchImages"]));
    expect(requests[2]?.messages.at(-1)).toMatchObject({ role: "tool" });
    expect(requests[2]?.messages.at(-1)?.text).not.toContain("error");
  });

  test('type C: "Create about page with hero and image" searches more than once', async () => {
    const { requests, session } = await converse(
      openCms(),
      [
        { calls: [{ name: "tool_search", args: { query: "create page add section" } }] },
        { calls: [{ name: "tool_search", args: { query: "find image" } }] },
        { text: "Ready." },
      ],
      "Create about page with hero and image",
    );
    expect(session).toBeTruthy();
    expect(requests[2]?.tools).toEqual(
      expect.arrayContaining(["tool_search", "cms_addSectionToPage", "cms_findImage"]),
    );
  });

  test("what turn 1 discovered is there in turn 2, and uses are counted", async () => {
    const gateway = openCms();
    const first = await converse(
      gateway,
      [
        { calls: [{ name: "tool_search", args: { query: "find image" } }] },
        { calls: [{ name: "cms_searchImages", args: { query: "hero" } }] },
        { text: "Found." },
      ],
      "Find hero image",
    );
    const { memory } = await gateway.session(first.session);
    expect(memory.discoveredTools.length).toBeGreaterThan(0);
    expect(memory.usedTools).toMatchObject([{ count: 1, lastResult: "success" }]);
    const second = await converse(gateway, [{ text: "Which one?" }], "Update the hero", first.session);
    expect(second.requests[0]?.tools).toContain("cms_searchImages");
    const fresh = await converse(gateway, [{ text: "Hello." }], "Hello");
    expect(fresh.requests[0]?.tools).toEqual(["tool_search"]);
  });

  test("entities of results are remembered: type, id, name; ten at most", async () => {
    const gateway = openCms();
    const session = await gateway.openSession();
    const listed = (await gateway.view()).entries.find(({ name }) => name === "cms_listPages")!;
    await gateway.exec({ op: listed.op, args: {} }, { session });
    const { entities } = (await gateway.session(session)).memory;
    expect(entities.length).toBeGreaterThan(0);
    expect(entities.length).toBeLessThanOrEqual(10);
    for (const entity of entities)
      expect(entity).toMatchObject({ type: "page", id: expect.any(String), name: expect.any(String) });
  });

  test("the options fit ToolLoopAgent as they are", async () => {
    const model = createScriptedModel([{ text: "Hello." }]);
    const { session: _, ...turn } = await toAISDKTools(openCms());
    const { text } = await new ToolLoopAgent({ ...turn, model }).generate({ prompt: "Hello" });
    expect(text).toBe("Hello.");
    expect(model.requests[0]?.tools).toEqual(["tool_search"]);
  });
});

describe("phase 8: tokens", () => {
  test("a simple query costs at most 500 tokens of overhead, a complex one 1,800", async () => {
    const gateway = openCms();
    const overhead = (request: { readonly body: unknown } | undefined) =>
      countTokens(JSON.stringify((request?.body as { tools?: unknown } | undefined)?.tools ?? []));
    const simple = await converse(gateway, [{ text: "Hm." }], "what's the hero heading?");
    expect(overhead(simple.requests[0])).toBeLessThanOrEqual(500);
    const complex = await converse(
      gateway,
      [
        { calls: [{ name: "tool_search", args: { query: "create page add section" } }] },
        { calls: [{ name: "tool_search", args: { query: "add image to section" } }] },
        { text: "Done." },
      ],
      "Create about page with hero and image",
    );
    expect(overhead(complex.requests.at(-1))).toBeLessThanOrEqual(1_800);
    const { everything } = (await gateway.report()).ledger;
    expect(everything).toBeGreaterThan(3_000);
  });
});

describe("phase 9: discovery's figures", () => {
  async function work(gateway: Gateway): Promise<void> {
    await converse(
      gateway,
      [
        { calls: [{ name: "tool_search", args: { query: "cms_searchImages" } }] },
        { calls: [{ name: "tool_search", args: { query: "créer une nouvelle page" } }] },
        { calls: [{ name: "tool_search", args: { query: "zzzqqq" } }] },
        { calls: [{ name: "cms_searchImages", args: { query: "hero" } }] },
        { calls: [{ name: "cms_searchImages", args: { query: "team" } }] },
        { text: "Found." },
      ],
      "Find the hero image",
    );
  }

  test("the gateway tells hit rate, searches that led to a call, and what answered", async () => {
    const gateway = openCms();
    await gateway.ready();
    await work(gateway);
    const { searches, found: hits, ledToCall, by, meanMs } = (await gateway.report()).discovery;
    expect({ searches, hits, ledToCall }).toEqual({ searches: 3, hits: 2, ledToCall: 1 });
    expect(by.words + by.vectors + by.both).toBe(3);
    expect(by.words).toBeGreaterThan(0);
    expect(by.vectors).toBeGreaterThan(0);
    expect(meanMs.words).toBeGreaterThan(0);
    expect(meanMs.vectors).toBeGreaterThan(0);
  });

  test("the same figures are metrics of OpenTelemetry", async () => {
    const collector = await startCollector();
    const telemetry = (await startTelemetry({ enabled: true, endpoint: collector.url }))!;
    const gateway = openCms();
    await gateway.ready();
    await work(gateway);
    await telemetry.close();
    const points = (name: string) =>
      collector
        .metrics()
        .filter((metric) => metric.name === name)
        .flatMap(({ histogram }) => histogram.dataPoints);
    const countBy = (name: string, key: string, value: unknown) =>
      points(name)
        .filter(({ attributes }) => attributes[key] === value)
        .reduce((sum, { count }) => sum + Number(count), 0);
    expect(countBy("keyhole.search.hits", "keyhole.search.found", true)).toBe(2);
    expect(countBy("keyhole.search.hits", "keyhole.search.found", false)).toBe(1);
    expect(countBy("keyhole.search.hits", "keyhole.search.by", "vectors")).toBeGreaterThan(0);
    expect(countBy("keyhole.search.duration", "keyhole.search.part", "words")).toBe(3);
    expect(countBy("keyhole.search.duration", "keyhole.search.part", "vectors")).toBeGreaterThan(0);
    expect(points("keyhole.search.used").map(({ count }) => count)).toEqual(["1"]);
    expect(collector.text()).not.toContain("zzzqqq");
  });
});
