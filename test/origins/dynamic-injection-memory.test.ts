// Walks the plan of dynamic tool injection: what working memory keeps of tool results.
import { createGateway, type DomainDefinition, defineDomain, defineTool, onEvent } from "keyhole";
import { describe, expect, onTestFinished, test } from "vitest";

const page = { id: "test-id", name: "Test Page", slug: "test" };

/** The plan's tools, which return what a test hands over. */
const cms = defineDomain({
  name: "cms",
  description: "A website.",
  entityExtractors: {
    cms_findResource: (result) =>
      (result as { matches: { type: string; id: string; name: string }[] }).matches.map(
        ({ type, id, name }) => ({ type: type.toLowerCase(), id, name, timestamp: new Date() }),
      ),
    search_vector: () => {
      throw new Error("broken");
    },
  },
  tools: [
    echo("cms_getPage", { path: "$root", type: "page", nameField: "name" }),
    echo("cms_searchImages", { path: "images", type: "image", nameField: "filename", isArray: true }),
    echo("cms_findResource"),
    echo("search_vector"),
    echo("http_post"),
  ],
});

function echo(name: string, extraction?: NonNullable<DomainDefinition["tools"]>[number]["extraction"]) {
  return defineTool({
    name,
    route: `cms://tools/${name}`,
    description: `${name}.`,
    lane: "read",
    ...(extraction && { extraction }),
    inputSchema: { type: "object", properties: { result: {} } },
    execute: ({ result }) => result,
  });
}

async function open() {
  const gateway = createGateway({ domains: [cms] });
  onTestFinished(() => gateway.close());
  const session = await gateway.openSession();
  const entitiesAfter = async (name: string, result: unknown) => {
    const answer = await gateway.exec({ op: `cms.${name}`, args: { result }, session });
    expect(answer.ok, answer.text).toBe(true);
    return (await gateway.session(session)).memory.entities.map(({ type, id, name }) => ({ type, id, name }));
  };
  return { gateway, session, entitiesAfter };
}

describe("7.5 schema-driven entity extraction", () => {
  test("cms_getPage gives an entity of type page", async () => {
    const { entitiesAfter } = await open();
    expect(await entitiesAfter("cms_getPage", page)).toEqual([
      { type: "page", id: "test-id", name: "Test Page" },
    ]);
  });

  test("cms_searchImages gives images, five of one result, without those that lack an id or a name", async () => {
    const { entitiesAfter } = await open();
    const images = Array.from({ length: 9 }, (_, at) => ({ id: `i${at}`, filename: `hero-${at}.jpg` }));
    const broken = [{ id: "x" }, { filename: "y.jpg" }];
    expect(await entitiesAfter("cms_searchImages", { images: [...images.slice(0, 2), ...broken] })).toEqual(
      expect.arrayContaining([
        { type: "image", id: "i0", name: "hero-0.jpg" },
        { type: "image", id: "i1", name: "hero-1.jpg" },
      ]),
    );
    expect(await entitiesAfter("cms_searchImages", { images })).toHaveLength(5);
  });

  test("cms_findResource uses its own extractor, with the type of each match", async () => {
    const { entitiesAfter } = await open();
    const matches = [
      { type: "Page", id: "p", name: "About" },
      { type: "Image", id: "i", name: "hero.jpg" },
    ];
    expect(await entitiesAfter("cms_findResource", { matches })).toEqual(
      expect.arrayContaining([
        { type: "page", id: "p", name: "About" },
        { type: "image", id: "i", name: "hero.jpg" },
      ]),
    );
  });

  test("a tool without extraction leaves the memory as it is, and a broken extractor is told", async () => {
    const notices: string[] = [];
    onTestFinished(onEvent((event) => event.type === "notice" && notices.push(event.notice)));
    const { entitiesAfter } = await open();
    expect(await entitiesAfter("http_post", page)).toEqual([]);
    expect(notices).toEqual([]);
    expect(await entitiesAfter("search_vector", { results: [page] })).toEqual([]);
    expect(notices).toEqual(["extraction-failed"]);
  });
});

describe("8.2.8 merging and the sliding window", () => {
  test("the same type and id is one entity under its newest name; the oldest of eleven goes", async () => {
    const { entitiesAfter } = await open();
    for (let at = 0; at < 11; at++) await entitiesAfter("cms_getPage", { id: `p${at}`, name: `Page ${at}` });
    const entities = await entitiesAfter("cms_getPage", { id: "p10", name: "Renamed" });
    expect(entities).toHaveLength(10);
    expect(entities.map(({ id }) => id)).not.toContain("p0");
    expect(entities.filter(({ id }) => id === "p10")).toEqual([{ type: "page", id: "p10", name: "Renamed" }]);
  });
});
