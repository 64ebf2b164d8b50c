import { createGateway, isProblem, type Principal } from "keyhole";
import { createEmbeddedIndex } from "keyhole/search";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createCms } from "../examples/cms/cms.ts";
import { extractEntities } from "../src/core/sessions/extractor.ts";
import { verifies } from "./claims.ts";

const CATEGORIES = {
  pages: `cms_getPage cms_createPage cms_createPageWithContent cms_updatePage cms_deletePage cms_listPages`,
  sections: `cms_listSectionTemplates cms_getSectionFields cms_addSectionToPage cms_updateSectionContent
    cms_deletePageSection cms_deletePageSections cms_getPageSections cms_getSectionContent`,
  images: `cms_findImage cms_searchImages cms_listAllImages cms_addImageToSection cms_updateSectionImage
    cms_replaceImage cms_deleteImage`,
  posts: `cms_createPost cms_updatePost cms_publishPost cms_archivePost cms_deletePost cms_listPosts cms_getPost`,
  navigation: `cms_getNavigation cms_addNavigationItem cms_updateNavigationItem cms_removeNavigationItem
    cms_toggleNavigationItem`,
  entries: `cms_getCollectionEntries cms_getEntryContent`,
  search: `search_vector cms_findResource`,
  http: `http_get http_post`,
  research: `web_quickSearch web_deepResearch web_fetchContent`,
  pexels: `pexels_searchPhotos pexels_downloadPhoto`,
  planning: `plan_analyzeTask`,
} as const;

const editor: Principal = { id: "editor", scopes: [], allowWrite: true };
const cms = createCms({ now: () => new Date("2026-08-03T10:00:00Z") });
const tools = cms.domain.tools ?? [];
const gateway = createGateway({
  domains: [cms.domain],
  principal: editor,
  approve: () => true,
  learning: false,
});
const { shown } = await gateway.view();
const opOf = new Map(shown.map(({ name, op }) => [name, op]));

beforeEach(() => cms.reset());
afterAll(async () => {
  await gateway.close();
  await cms.close();
});

test("every tool is present, in its category and with complete metadata", () => {
  const expected = Object.entries(CATEGORIES).flatMap(([category, names]) =>
    names.split(/\s+/).map((name) => [name, category]),
  );
  expect(tools.map(({ name, category }) => [name, category]).sort()).toEqual(expected.sort());
  for (const tool of tools) {
    expect(tool.phrases?.length, tool.name).toBeGreaterThan(1);
    expect(tool.relatedTools?.length, tool.name).toBeGreaterThan(0);
    expect(tool.riskLevel, tool.name).toBeDefined();
    expect(tool.extraction, tool.name).not.toBeUndefined();
    expect(tool.requiresConfirmation ?? false, tool.name).toBe(tool.riskLevel === "destructive");
    expect(Boolean(tool.dryRun), tool.name).toBe(tool.riskLevel === "destructive");
  }
});

describe.each(tools.map((tool) => ({ tool, name: tool.name })))("$name", ({ tool }) => {
  const op = opOf.get(tool.name) ?? "";

  verifies("cms:every-tool", "each of its phrases finds it among the first five", async () => {
    for (const query of tool.phrases ?? []) {
      const { hits } = await gateway.ask({ query });
      expect(
        hits.slice(0, 5).map(({ name }) => name),
        query,
      ).toContain(tool.name);
    }
  });

  verifies("cms:every-tool", "help shows its args, and its examples run", async () => {
    const help = await gateway.help({ path: op, format: "full", includeSchemas: true });
    if (help.kind !== "tool") throw help;
    const properties = Object.keys((help.schema?.properties ?? {}) as object);
    expect(help.args.map(({ name }) => name).sort()).toEqual(properties.sort());
    expect(help.related).toHaveLength(tool.relatedTools?.length ?? 0);
    expect(help.examples?.length).toBeGreaterThan(0);
    for (const { args } of help.examples ?? []) {
      cms.reset();
      const answer = await gateway.exec({ op, args, dryRun: false });
      expect(answer.ok, answer.text).toBe(true);
    }
  });

  verifies("cms:entities", "extracts entities from a real result, or none if it declares none", async () => {
    const result = await run(op, tool.examples?.[0]?.args ?? {});
    const entry = shown.find(({ name }) => name === tool.name);
    if (entry?.kind !== "tool") throw entry;
    const entities = extractEntities(entry, result);
    const says = Boolean(tool.extraction ?? cms.domain.entityExtractors?.[tool.name]);
    expect(entities.length > 0).toBe(says);
    for (const entity of entities) {
      expect(entity).toMatchObject({ type: expect.stringMatching(/^[a-z_]+$/), id: expect.any(String) });
      expect(entity.name).toMatch(/\S/);
    }
  });
});

verifies("cms:entities", "the two tools that return several kinds yield entities of each kind", async () => {
  const { cms_findResource: inMatches, search_vector: inResults } = cms.domain.entityExtractors ?? {};
  const found = await run("cms.resource.find", { name: "cabin", limit: 20 });
  expect(new Set(inMatches?.(found).map(({ type }) => type)).size).toBeGreaterThan(1);
  const near = await run("cms.vector.search", { query: "cabin in winter", limit: 5 });
  expect(new Set(inResults?.(near).map(({ type }) => type)).size).toBeGreaterThan(1);
  for (const extract of [inMatches, inResults]) {
    for (const wrong of [null, 7, "x", {}, { matches: 1, results: {} }]) expect(extract?.(wrong)).toEqual([]);
    const items = [
      null,
      { id: "a" },
      { name: "b" },
      { id: "c", name: "C", type: "Page" },
      { id: 1, name: "n" },
    ];
    expect(extract?.({ matches: items, results: items })).toMatchObject([
      { type: "page", id: "c", name: "C" },
      { type: "resource", id: "1", name: "n" },
    ]);
  }
});

verifies("cms:rules", "an answer carries the rules of every category it found", async () => {
  for (const [query, category] of [
    ["publish post", "posts"],
    ["rename menu item", "navigation"],
    ["search stock photos", "pexels"],
    ["call webhook", "http"],
    ["deep research", "research"],
  ] as const) {
    const { hits, rules } = await gateway.ask({ query, limit: 2, maxTokens: 5_000 });
    const found = hits.filter((hit) => !hit.entryPoint);
    const played = new Set(found.map(({ name }) => tools.find((tool) => tool.name === name)?.category));
    expect(played, query).toContain(category);
    const ruled = [...played].filter((name) => name! in (cms.domain.rules as object));
    expect(rules.map((rule) => rule.category).sort(), query).toEqual(ruled.sort());
    for (const rule of rules)
      expect(rule.text).toBe((cms.domain.rules as Record<string, string>)[rule.category!]);
  }
  const both = await gateway.ask({ queries: ["publish post", "hide menu item"], limit: 2 });
  expect(both.rules.map(({ category }) => category).sort()).toEqual(["navigation", "posts"]);
});

verifies("cms:rules", "all ten rules come once per session", async () => {
  const session = await gateway.openSession();
  const had: (string | undefined)[] = [];
  for (const tool of [...tools, ...tools]) {
    const { rules } = await gateway.ask({ query: tool.name, maxTokens: 5_000 }, { session });
    had.push(...rules.map(({ category }) => category));
  }
  const { planning: _, ...withRules } = CATEGORIES;
  expect(had.sort()).toEqual(Object.keys(withRules).sort());
});

verifies("cms:related", "tools used together fill the room left in an answer and no more", async () => {
  const byWords = createGateway({ domains: [cms.domain], index: createEmbeddedIndex(), learning: false });
  const named = async (limit: number) =>
    (await byWords.ask({ query: "webhook", limit })).hits.map(({ name }) => name);
  expect(await named(1)).toEqual(["http_post"]);
  expect(await named(5)).toEqual(["http_post", "http_get"]);
  await byWords.close();
});

verifies("cms:discovery", "the words of a task find the tools that change the site", async () => {
  const session = await gateway.openSession();
  const options = { session };
  const simple = await gateway.ask({ query: "Find the hero image" }, options);
  expect(simple.hits[0]?.name).toBe("cms_searchImages");
  const [hit] = simple.hits;
  const read = await gateway.get(
    { routes: [{ route: hit!.route, params: { query: "hero image" } }] },
    options,
  );
  expect(read.results).toMatchObject([
    {
      ok: true,
      data: { content: { images: [{ id: "img_001", filename: "hero-mountain-dawn.jpg" }, {}] } },
    },
  ]);

  const complex = await gateway.ask({ query: "Create about page with hero and image" }, options);
  const names = complex.hits.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["cms_createPageWithContent", "cms_searchImages"]));
  expect(names.some((name) => name === "cms_updateSectionImage" || name === "cms_addImageToSection")).toBe(
    true,
  );

  const page = (await run("cms.page.content.create", {
    name: "About",
    sections: [{ template: "hero", name: "About hero", content: { heading: "Eleven people" } }],
  })) as { page: { id: string }; sections: { id: string }[] };
  await run("cms.image.section.add", { section: page.sections[0]!.id, image: "img_001" });
  expect(await run("cms.page.sections.get", { page: "about" })).toMatchObject({
    page: { id: page.page.id },
    sections: [{ template: "hero", position: 0, images: { image: ["img_001"] } }],
  });
});

verifies(
  "cms:discovery",
  "tasks that need no tool, one kind or several kinds are distinguished",
  async () => {
    for (const [task, type] of [
      ["What is a CMS section?", "A"],
      ["Hello", "A"],
      ["Find the hero image", "B"],
      ["Create about page with hero and image", "C"],
    ]) {
      expect(await run("cms.plan.task.analyze", { task }), task).toMatchObject({ type });
    }
  },
);

verifies(
  "cms:discovery",
  "every query is answered: empty, long, in another language, off topic",
  async () => {
    for (const query of ["", " ", "page ".repeat(20_000), "Bild suchen", "画像を探す", "zxqv wvutz"]) {
      const answer = await gateway.ask({ query });
      expect(answer.hits.length + answer.notes.length, query.slice(0, 20)).toBeGreaterThan(0);
    }
  },
);

verifies("cms:validation", "all definitions that contradict each other are refused at once", () => {
  const [first, ...others] = tools;
  const broken = {
    ...cms.domain,
    entityExtractors: { ...cms.domain.entityExtractors, cms_getPost: () => [], cms_nothing: () => [] },
    tools: [
      { ...first!, relatedTools: ["cms_gone"] },
      { ...others[0]!, description: "" },
      ...others.slice(1),
    ],
  };
  try {
    createGateway({ domains: [broken] });
    expect.unreachable();
  } catch (error) {
    if (!isProblem(error)) throw error;
    expect(error.code).toBe("CATALOG_INVALID");
    for (const wrong of ["cms_gone", "cms_nothing", "both an extraction schema", "description"]) {
      expect(error.message).toContain(wrong);
    }
  }
});

async function run(op: string, args: Readonly<Record<string, unknown>>): Promise<unknown> {
  const answer = await gateway.exec({ op, args: { ...args }, dryRun: false });
  if (!answer.ok) throw answer.error;
  return answer.result;
}
