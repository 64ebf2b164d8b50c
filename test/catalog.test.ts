import { setTimeout as sleep } from "node:timers/promises";
import {
  createGateway,
  type DomainDefinition,
  defineDomain,
  defineTool,
  isProblem,
  onEvent,
  type Source,
} from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { fromDomains } from "../src/sources/code/from-domains.ts";
import { verifies } from "./claims.ts";
import { auditor, createShop, reader } from "./shop.ts";

function errorsOf(domains: DomainDefinition[]): string[] {
  try {
    createGateway({ domains });
  } catch (error) {
    if (isProblem(error)) return error.details.errors as string[];
    throw error;
  }
  return [];
}

const execute = () => "";

verifies("catalog:all-errors", "all wrong definitions are reported at once with their places", () => {
  const errors = errorsOf([
    {
      name: "cms",
      description: "Pages.",
      rules: { images: "Search first." },
      tools: [
        { name: "", description: "No name.", execute },
        { name: "get_page", description: "", execute },
        { name: "list_pages", description: "List pages.", relatedTools: ["get_nothing"], execute },
        { name: "list-pages", description: "Same op.", execute },
        { name: "a", route: "cms:/tools/a", description: "No route.", execute },
        { name: "b", route: "cms://resources/b", description: "Wrong folder.", execute },
        { name: "c", route: "shop://tools/c", description: "Wrong domain.", execute },
        { name: "d", route: "cms://tools/d", description: "First.", execute },
        { name: "d2", route: "cms://tools/d", description: "Second.", execute },
        {
          name: "e",
          description: "Leads nowhere.",
          guidance: [{ route: "cms://tools/x", prose: "x" }],
          execute,
        },
        {
          name: "find_image",
          description: "Find.",
          extraction: { path: "image", type: "image", nameField: "name" },
          execute,
        },
        { name: "f", description: "No function." } as never,
        { name: "g", op: "other.g", description: "Foreign op.", execute },
        { name: "x1", route: "cms://tools/x/y", description: "One.", execute },
        { name: "x2", route: "cms://tools/x.y", description: "Other.", execute },
        { name: "😀", description: "No word in its name.", execute },
      ],
      entityExtractors: { find_image: () => [], find_nothing: () => [] },
    },
    { name: "cms", description: "Twice.", tools: [] },
    { name: "not a name", description: "x" },
  ]);
  const expected = [
    /tool : name/,
    /tool get_page: description/,
    /relatedTools names get_nothing/,
    /list_pages and list-pages have this route/,
    /both have the op cms.x.y/,
    /tool a: cms:\/tools\/a is not a route/,
    /tool b: is a tool, so its route goes under tools/,
    /tool c: its route must begin with cms:\/\//,
    /cms:\/\/tools\/d: d and d2 have this route/,
    /guidance leads to cms:\/\/tools\/x/,
    /tool find_image: has both/,
    /entityExtractors has find_nothing/,
    /tool f: execute/,
    /tool g: no address/,
    /tool 😀: no address/,
    /domain cms: defined more than once/,
    /domain not a name: name/,
  ];
  for (const pattern of expected) expect(errors).toContainEqual(expect.stringMatching(pattern));
  expect(errors).toHaveLength(expected.length);
});

verifies("catalog:version", "the version ignores order and depends on content", () => {
  const versionOf = (domains: readonly DomainDefinition[]) => createGateway({ domains }).version;
  const { domains } = createShop();
  const reversed = domains
    .toReversed()
    .map((domain) => ({ ...domain, tools: domain.tools?.toReversed() ?? [] }));
  expect(versionOf(reversed)).toBe(versionOf(domains));
  const [shop, audit] = domains;
  expect(versionOf([{ ...shop!, description: "Another shop." }, audit!])).not.toBe(versionOf(domains));
  const renamed = shop!.tools!.map((tool, index) =>
    index === 0 ? { ...tool, description: "Other." } : tool,
  );
  expect(versionOf([{ ...shop!, tools: renamed }, audit!])).not.toBe(versionOf(domains));
});

verifies(
  "catalog:atomic-swap",
  "a call in flight finishes on the old catalog, the next one uses the new",
  async () => {
    const begun = Promise.withResolvers<void>();
    const domain = (answer: string, ms: number) =>
      defineDomain({
        name: "lab",
        description: "For tests.",
        tools: [
          defineTool({
            name: "answer",
            description: `Answers ${answer}.`,
            execute: async () => {
              begun.resolve();
              await sleep(ms);
              return answer;
            },
          }),
        ],
      });
    const gateway = createGateway({ domains: [domain("old", 50)] });
    await gateway.ready();
    const before = gateway.version;
    const inFlight = gateway.exec({ op: "lab.answer" });
    await begun.promise;
    const swapped = gateway.setDomains([domain("new", 0)]);
    const searching = gateway.ask({ query: "answer" });
    expect(await inFlight).toMatchObject({ result: "old" });
    await swapped;
    expect((await searching).hits).toHaveLength(1);
    expect(await gateway.exec({ op: "lab.answer" })).toMatchObject({ result: "new" });
    expect(gateway.version).not.toBe(before);

    const version = gateway.version;
    await expect(gateway.setDomains([{ name: "", description: "" }])).rejects.toMatchObject({
      code: "CATALOG_INVALID",
    });
    expect(gateway.version).toBe(version);
    await gateway.close();
    await expect(gateway.ask({ query: "x" })).rejects.toMatchObject({ code: "CLOSED" });
  },
);

test("scopes are merged from domain, entry and extractor", async () => {
  const gateway = createGateway({
    domains: [
      defineDomain({
        name: "wiki",
        description: "Pages.",
        requiredScopes: ["internal"],
        tools: [{ name: "get_page", description: "Get a page.", requiredScopes: ["support"], execute }],
        extractors: [
          {
            source: {
              name: "memory",
              listDocuments: async () => [{ id: "1", name: "One", contentType: "text" }],
              fetchContent: async (id) => ({
                id,
                name: "One",
                contentType: "text",
                content: "The first page.",
              }),
            },
            formats: [
              {
                name: "text",
                canHandle: (type) => type === "text",
                parse: ({ id, name, content }, base) => [
                  {
                    id,
                    name,
                    path: `${base}/${id}`,
                    content,
                    children: [{ id: "c", name: "Part", path: `${base}/${id}/c`, content: "A part." }],
                  },
                ],
              },
            ],
            basePath: "pages",
            scopes: ["admin"],
          },
        ],
      }),
    ],
  });
  const codes = async (...scopes: string[]) => {
    const routes = [
      { route: "wiki.page.get" },
      { route: "wiki://resources/pages/1" },
      { route: "wiki://resources/pages/1/c" },
    ];
    const { results } = await gateway.get({ routes }, { principal: { id: "p", scopes, allowWrite: false } });
    return results.map((result) => (result.ok ? "ok" : result.error.code));
  };
  expect(await codes("internal")).toEqual(["NOT_FOUND", "NOT_FOUND", "NOT_FOUND"]);
  expect(await codes("internal", "support")).toEqual(["ok", "NOT_FOUND", "NOT_FOUND"]);
  expect(await codes("internal", "admin")).toEqual(["NOT_FOUND", "ok", "ok"]);
  expect(await codes("support", "admin")).toEqual(["NOT_FOUND", "NOT_FOUND", "NOT_FOUND"]);
  const found = await gateway.ask(
    { query: "first page" },
    { principal: { ...auditor, scopes: ["internal", "admin"] } },
  );
  expect(found.hits.map((hit) => hit.route)).toContain("wiki://resources/pages/1");
});

test("a failing content source affects only its own content", async () => {
  const [shop] = createShop().domains;
  const source = {
    name: "broken",
    listDocuments: async () => Promise.reject(new TypeError("no")),
    fetchContent: async () => Promise.reject(new TypeError("no")),
  };
  const extractors = [{ source, formats: [{ name: "none", canHandle: () => true, parse: () => [] }] }];
  const gateway = createGateway({ domains: [{ ...shop!, extractors }], principal: reader });
  expect((await gateway.ask({ query: "orders" })).hits.length).toBeGreaterThan(0);
});

test("changes of a source take effect; a wrong one is refused and the last good one stays", async () => {
  const push = Promise.withResolvers<void>();
  const content = (name: string, count: number) => ({
    domains: [{ name: "live", description: "Changes.", scopes: [], rules: [] }],
    drafts: fromDomains([
      {
        name: "live",
        description: "Changes.",
        tools: Array.from({ length: count }, () => ({ name, description: name, execute })),
      },
    ]).drafts,
  });
  const source: Source = {
    id: "live",
    contents: async function* (signal) {
      yield content("first_thing", 1);
      await push.promise;
      yield content("broken_thing", 2);
      yield content("second_thing", 1);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  };
  const gateway = createGateway({ domains: createShop().domains, sources: [source] });
  expect((await gateway.ask({ query: "first thing" })).hits[0]?.op).toBe("live.first_thing");
  push.resolve();
  await expect.poll(async () => (await gateway.exec({ op: "live.second_thing" })).ok).toBe(true);
  expect((await gateway.exec({ op: "live.first_thing" })).ok).toBe(false);
  expect((await gateway.ask({ query: "first thing" })).hits.map((hit) => hit.op)).not.toContain(
    "live.first_thing",
  );
  expect((await gateway.ask({ query: "newest orders" })).hits[0]?.op).toBe("shop.order.list");
  await gateway.close();
});

test("a rules file too many is told, and refuses nothing", async () => {
  const notices: string[] = [];
  onTestFinished(
    onEvent((event) => {
      if (event.type === "notice" && event.notice === "content-failed") notices.push(event.detail);
    }),
  );
  const tool = defineTool({
    name: "list_pages",
    category: "pages",
    description: "Lists pages.",
    execute: () => [],
  });
  const rules = { pages: "Pages first.", pexels: "Search existing images first." };
  const gateway = createGateway({
    domains: [defineDomain({ name: "cms", description: "A website.", tools: [tool], rules })],
  });
  onTestFinished(() => gateway.close());
  const { text } = await gateway.ask({ query: "list pages" });
  expect(text).toContain("Pages first.");
  expect(text).not.toContain("Search existing images first.");
  await gateway.ready();
  expect(notices).toEqual([
    expect.stringContaining("rules for the category pexels, which no entry has, are not used"),
  ]);
});
