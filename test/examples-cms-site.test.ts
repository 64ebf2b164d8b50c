import { join } from "node:path";
import { createGateway, type Principal } from "keyhole";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createCms } from "../examples/cms/cms.ts";
import { verifies } from "./claims.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const editor: Principal = { id: "editor", scopes: [], allowWrite: true };
const now = () => new Date("2026-08-03T10:00:00Z");
const cms = createCms({ now });
const gateway = createGateway({
  domains: [cms.domain],
  principal: editor,
  approve: () => true,
  learning: false,
});

beforeEach(() => cms.reset());
afterAll(async () => {
  await gateway.close();
  await cms.close();
});

verifies("cms:site", "a dry run changes nothing and predicts the real run", async () => {
  const { shown } = await gateway.view();
  const destructive = shown.filter(({ lane }) => lane === "destructive");
  expect(destructive).toHaveLength(6);
  for (const { op, examples } of destructive) {
    cms.reset();
    const args = { ...examples[0]!.args };
    const before = await everything();
    const dry = await gateway.exec({ op, args, dryRun: true });
    expect(dry, op).toMatchObject({ ok: true, meta: { dryRun: true } });
    expect(await everything(), op).toEqual(before);
    const done = await run(op, args);
    const [told] = Object.values((dry.ok ? dry.result : {}) as object);
    expect(Object.values(done), op).toEqual([told]);
    expect(await everything(), op).not.toEqual(before);
    expect(await code(op, args), op).toBe("NOT_FOUND");
  }
});

verifies("cms:site", "nothing is deleted without approval", async () => {
  const careful = createGateway({ domains: [cms.domain], principal: editor, learning: false });
  const before = await everything();
  const answer = await careful.exec({ op: "cms.page.delete", args: { page: "home" }, dryRun: false });
  expect(answer).toMatchObject({ ok: false, error: { code: "APPROVAL_REQUIRED" } });
  expect(await everything()).toEqual(before);
  await careful.close();
});

verifies(
  "cms:site",
  "posts go from draft to published to archived, and from archived only back to published",
  async () => {
    const { id } = await run("cms.post.create", { title: "Åse's doors!", body: "Plane them." });
    expect(await run("cms.post.get", { post: "ase-s-doors" })).toMatchObject({ id, status: "draft" });
    expect(await code("cms.post.archive", { post: id })).toBe("CONFLICT");
    expect(await run("cms.post.publish", { post: id })).toMatchObject({
      status: "published",
      published_at: now().toISOString(),
    });
    expect(await code("cms.post.publish", { post: id })).toBe("CONFLICT");
    expect(await run("cms.post.archive", { post: id })).toMatchObject({ status: "archived" });
    expect(await code("cms.post.archive", { post: id })).toBe("CONFLICT");
    expect(await code("cms.post.update", { post: id, title: "New" })).toBe("CONFLICT");
    expect(await run("cms.post.publish", { post: id })).toMatchObject({ status: "published" });
    expect(await run("cms.post.update", { post: id, title: "Doors" })).toMatchObject({ title: "Doors" });
    expect(await code("cms.post.create", { title: "Åse's doors!", body: "Again." })).toBe("CONFLICT");
  },
);

verifies("cms:site", "menu and sections keep their order without gaps", async () => {
  const menu = async () => {
    const { items } = await run<{ items: { label: string; position: number }[] }>("cms.navigation.get", {});
    expect(items.map(({ position }) => position)).toEqual(items.map((_, place) => place));
    return items.map(({ label }) => label);
  };
  const labels = await menu();
  await run("cms.navigation.item.add", { label: "Press", url: "/press", position: 1 });
  expect(await menu()).toEqual(labels.toSpliced(1, 0, "Press"));
  await run("cms.navigation.item.update", { item: "nav_contact", position: 0 });
  await run("cms.navigation.item.remove", { item: "nav_new_1" });
  expect(await menu()).toEqual(["Contact", ...labels.filter((label) => label !== "Contact")]);
  expect(await code("cms.navigation.item.add", { label: "Team", url: "/team" })).toBe("CONFLICT");

  const content = { heading: "First", body: "Of all." };
  await run("cms.section.page.add", { page: "home", template: "text", name: "First", content, position: 0 });
  await run("cms.page.sections.delete", { page: "home", sections: ["sec_welcome", "sec_home-hero"] });
  const { sections } = await run<{ sections: { name: string; position: number }[] }>(
    "cms.page.sections.get",
    { page: "home" },
  );
  expect(sections.map(({ name, position }) => [name, position])).toEqual([
    ["First", 0],
    ["Featured project", 1],
    ["Client voice", 2],
  ]);
});

verifies("cms:site", "a change that fails halfway leaves nothing behind", async () => {
  const before = await everything();
  const good = { template: "text", name: "Good", content: { heading: "a", body: "b" } };
  const hostile: Record<string, string> = JSON.parse(
    '{ "heading": "a", "__proto__": "b", "constructor": "c" }',
  );
  const wrong: { template: string; name: string; content: Record<string, string> }[] = [
    { template: "hero", name: "No heading", content: {} },
    { template: "hero", name: "Unknown", content: hostile },
    { template: "hero", name: "Empty", content: { heading: " " } },
    { template: "hero", name: "A script", content: { heading: "a", buttonUrl: "javascript:alert(1)" } },
    { template: "hero", name: "Too long", content: { heading: "a".repeat(81) } },
    { template: "hero", name: "Image as text", content: { heading: "a", image: "img_001" } },
  ];
  for (const section of wrong) {
    const args = { name: "Half", sections: [good, section] };
    expect(await code("cms.page.content.create", args), section.name).toBe("INVALID_PARAMS");
  }
  expect(
    await code("cms.page.sections.delete", { page: "home", sections: ["sec_welcome", "sec_cabins"] }),
  ).toBe("CONFLICT");
  expect(await everything()).toEqual(before);
});

verifies("cms:site", "an image in use cannot be deleted until it is replaced", async () => {
  expect(await code("cms.image.delete", { image: "img_001" })).toBe("CONFLICT");
  const replaced = await run("cms.image.replace", { image: "img_001", replacement: "img_002" });
  expect(replaced).toMatchObject({ replaced: "img_001", in: [{}, {}] });
  await run("cms.image.delete", { image: "img_001" });
  expect(await run("cms.section.content.get", { section: "sec_home-hero" })).toMatchObject({
    section: { images: { image: ["img_002"] } },
  });
  const gallery = { section: "sec_cabins", field: "images" };
  expect(await code("cms.image.section.add", { ...gallery, image: "img_004" })).toBe("CONFLICT");
  expect(await code("cms.section.image.update", { ...gallery, image: "img_009", position: 9 })).toBe(
    "NOT_FOUND",
  );
  expect(await code("cms.section.image.update", { section: "sec_welcome", image: "img_009" })).toBe(
    "INVALID_PARAMS",
  );
});

verifies("cms:site", "search follows writes and deletions", async () => {
  const found = async (query: string) => {
    const { results } = await run<{ results: { id: string }[] }>("cms.vector.search", { query });
    return results.map(({ id }) => id);
  };
  const { id } = await run("cms.post.create", { title: "Beehives on roofs", body: "Bees like sedum." });
  expect((await found("beehives sedum"))[0]).toBe(id);
  await run("cms.post.delete", { post: id });
  expect(await found("beehives sedum")).not.toContain(id);
  const images = async (query: string) =>
    (await run<{ images: { filename: string }[] }>("cms.image.search", { query })).images;
  expect((await images("northern lights at night"))[0]?.filename).toBe("northern-lights.jpg");
  expect(await images("submarine")).toEqual([]);
});

verifies("cms:site", "requests reach the loopback server and nothing else", async () => {
  const post = { url: "https://newsletter.example/subscribers", body: { email: "ana@visitor.example" } };
  expect(await run("cms.http.post", post)).toMatchObject({ status: 201, ok: true });
  expect(await run("cms.http.post", post)).toMatchObject({ status: 409, ok: false });
  cms.reset();
  expect(await run("cms.http.post", post)).toMatchObject({ status: 201 });
  const elsewhere = [
    "https://example.com/",
    "http://weather.example/today",
    "https://127.0.0.1/",
    "https://user:word@evil.test/.example",
    "file:///etc/passwd",
  ];
  for (const url of elsewhere) expect(await code("cms.http.get", { url }), url).toBe("REQUEST_REFUSED");
  expect(await code("cms.web.content.fetch", { url: "https://nowhere.example/" })).toBe("CALL_FAILED");
  await run("cms.pexels.photo.download", { photo: 1001 });
  expect(await code("cms.pexels.photo.download", { photo: 1001 })).toBe("CONFLICT");
  expect(await code("cms.pexels.photo.download", { photo: 9 })).toBe("CALL_FAILED");
});

test("the site has many records, and names such as constructor are only names", async () => {
  const { pages, images, posts } = await everything();
  expect(pages.length).toBeGreaterThanOrEqual(8);
  expect(pages.flatMap(({ sections }) => sections).length).toBeGreaterThanOrEqual(30);
  expect(images).toHaveLength(40);
  expect(posts).toHaveLength(12);
  for (const name of ["constructor", "__proto__", "toString"]) {
    expect(await code("cms.page.get", { page: name })).toBe("NOT_FOUND");
    expect(await code("cms.collection.entries.get", { collection: name })).toBe("NOT_FOUND");
  }
});

test("a file keeps the site, and a reset restores it", async () => {
  const path = join(temporaryFolder(), "site.db");
  const change = { op: "cms.page.update", args: { page: "home", name: "Start" } };
  for (const expected of ["Home", "Start"]) {
    const kept = createCms({ path, now });
    const over = createGateway({ domains: [kept.domain], principal: editor, learning: false });
    const home = { op: "cms.page.get", args: { page: "home" } };
    expect(await over.exec(home)).toMatchObject({ result: { name: expected } });
    await over.exec(change);
    if (expected === "Start") {
      kept.reset();
      expect(await over.exec(home)).toMatchObject({ result: { name: "Home" } });
    }
    await over.close();
    await kept.close();
  }
});

interface Everything {
  readonly pages: { readonly slug: string; readonly sections: unknown[] }[];
  readonly images: unknown[];
  readonly posts: unknown[];
  readonly items: unknown[];
}

/** The whole site, as tools read it. */
async function everything(): Promise<Everything> {
  const { pages } = await run<Everything>("cms.page.list", {});
  const whole = await Promise.all(
    pages.map(async (page) => ({ ...page, ...(await run("cms.page.sections.get", { page: page.slug })) })),
  );
  return {
    ...(await run<Everything>("cms.image.list", { limit: 100 })),
    ...(await run<Everything>("cms.post.list", { limit: 50 })),
    ...(await run<Everything>("cms.navigation.get", {})),
    pages: whole as unknown as Everything["pages"],
  };
}

async function run<Result = { readonly id: string }>(
  op: string,
  args: Record<string, unknown>,
): Promise<Result> {
  const answer = await gateway.exec({ op, args, dryRun: false }, { limits: { resultTokens: 100_000 } });
  if (!answer.ok) throw answer.error;
  return answer.result as Result;
}

async function code(op: string, args: Record<string, unknown>): Promise<string> {
  const answer = await gateway.exec({ op, args, dryRun: false });
  return answer.ok ? "ok" : answer.error.code;
}
