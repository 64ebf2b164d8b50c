// Three requests to the editor of a website, from one that needs no tool to one that needs several.
import assert from "node:assert/strict";
import { createGateway, loadTokenCounter, type Principal } from "keyhole";
import { heading, quote } from "../print.ts";
import { createCms } from "./cms.ts";

const editor: Principal = { id: "ed", scopes: [], allowWrite: true };
const cms = createCms({ now: () => new Date("2026-08-03T10:00:00Z") });
const approvals: string[] = [];
const gateway = createGateway({
  domains: [cms.domain],
  principal: editor,
  // Stands for a person who approves one exact call: the deletion of one page.
  approve: ({ op, args }) => approvals.push(op) > 0 && args.page === "press",
});
const countTokens = await loadTokenCounter();
const menu = countTokens(JSON.stringify(await gateway.menu()));
const listed = Object.values((await gateway.report()).registry.ops).map(
  ({ op, description, parameters_schema }) => ({
    name: op,
    description,
    inputSchema: parameters_schema,
  }),
);
const everything = countTokens(JSON.stringify([listed, cms.domain.rules]));
const session = await gateway.openSession();
let shown = 0;

heading('Type A. "What is a section?" needs no tool and costs only the menu');
cost("A", menu);

heading('Type B. "Find the hero image": one ask, one call');
const found = await ask("Find the hero image");
assert.equal(found.hits[0]?.name, "cms_searchImages");
assert.match(rulesFor(found, "images"), /Search the library before you look at stock photos/);
const { images } = await read<{ images: { id: string; filename: string }[] }>("cms.image.search", {
  query: "hero image",
});
assert.equal(images[0]?.filename, "hero-mountain-dawn.jpg");
cost("B", menu + shown);

heading('Type C. "Create an about page with a hero and an image, and put it into the menu"');
const plan = await read<{ type: string; steps: { category: string }[] }>("cms.plan.task.analyze", {
  task: "Create an about page with a hero and an image, and put it into the menu",
});
assert.equal(plan.type, "C");
assert.deepEqual(
  plan.steps.map(({ category }) => category),
  ["pages", "sections", "images", "navigation"],
);
const first = await ask("create page with content", "fields of a section");
assert.deepEqual(
  first.hits
    .slice(0, 2)
    .map(({ name }) => name)
    .sort(),
  ["cms_createPageWithContent", "cms_getSectionFields"],
);
assert.equal(rulesFor(first, "images"), "", "rules of images came with the first ask, and come once");
const second = await ask("add image to section", "add to menu");
assert.ok(second.hits.some(({ name }) => name === "cms_addImageToSection"));
assert.ok(second.hits.some(({ name }) => name === "cms_addNavigationItem"));

const { fields } = await read<{ fields: { name: string; type: string }[] }>("cms.section.fields.get", {
  template: "hero",
});
const field = fields.find(({ type }) => type === "image")!.name;
const made = await run<{ page: { slug: string }; sections: { id: string }[] }>("cms.page.content.create", {
  name: "About",
  sections: [{ template: "hero", name: "About hero", content: { heading: "Eleven people, one workshop" } }],
});
const heroId = made.sections[0]!.id;

heading("The library is searched first; if it has nothing, the answer leads to stock photos");
const none = await gateway.get({
  routes: [{ route: "cms.image.search", params: { query: "harbour" } }],
  session,
});
quote(none.text);
assert.ok(none.results[0]?.ok);
const [step] = none.results[0].data.guidance;
assert.equal(step?.route, "cms://tools/pexels/photo/search");
const { photos } = await read<{ photos: { id: number }[] }>(step.route, step.params ?? {});
const { image } = await run<{ image: { id: string; url: string } }>("cms.pexels.photo.download", {
  photo: photos[0]!.id,
});
assert.match(image.url, /^\/uploads\/images\//);
await run("cms.image.section.add", { section: heroId, field, image: image.id });
await run("cms.navigation.item.add", { label: "About", url: `/${made.page.slug}`, position: 0 });
cost("C", menu + shown);

heading("Other tools read what was written");
const hero = await read<{ section: { images: Record<string, string[]> } }>("cms.section.content.get", {
  section: heroId,
});
assert.deepEqual(hero.section.images, { image: [image.id] });
const { items } = await read<{ items: { label: string }[] }>("cms.navigation.get", {});
assert.deepEqual(
  items.slice(0, 2).map(({ label }) => label),
  ["About", "Projects"],
);

heading("Nonsense is refused with the reason");
await refused("CONFLICT", "cms.page.create", { name: "About" });
await refused("CONFLICT", "cms.image.section.add", { section: heroId, image: "img_001" });
await refused("CONFLICT", "cms.post.archive", { post: "slate-or-steel" });
await refused("NOT_FOUND", "cms.page.update", { page: "abuot", name: "About us" });
await refused("INVALID_PARAMS", "cms.section.content.update", {
  section: heroId,
  content: { title: "Us" },
});
await refused("REQUEST_REFUSED", "cms.http.get", { url: "https://169.254.169.254/latest" });

heading("A deletion runs dry, waits for a person, then does what the dry run said");
const dry = await run<{ would_delete: unknown }>("cms.page.delete", { page: "press" }, true);
await run("cms.page.get", { page: "press" });
await refused("APPROVAL_REQUIRED", "cms.page.delete", { page: "home" }, false);
const gone = await run<{ deleted: unknown }>("cms.page.delete", { page: "press" }, false);
assert.deepEqual(gone.deleted, dry.would_delete);
assert.deepEqual(approvals, ["cms.page.delete", "cms.page.delete"]);
await refused("NOT_FOUND", "cms.page.get", { page: "press" });

heading("Nothing is lost: every tool is on the map, and a handle reads the rest of a long answer");
const map = await gateway.help({ path: "cms" });
assert.ok(map.kind === "directory");
const onMap = map.ops.length + map.groups.reduce((sum, { count }) => sum + count, 0);
assert.equal(onMap, cms.domain.tools?.length);
const short = { session, limits: { resultTokens: 500 } };
const library = await gateway.exec({ op: "cms.image.list", args: { limit: 100 } }, short);
quote(library.text.split("\n").at(-1) ?? "");
const handle = library.meta.stored?.handle;
assert.ok(handle);
const all = await gateway.get({ routes: [{ route: handle, params: { path: "/images", count: true } }] });
assert.partialDeepStrictEqual(all.results, [{ ok: true, data: { content: { count: 41 } } }]);

await gateway.close();
await cms.close();
heading("Done: an about page with a hero, a picture and a place in the menu.");

async function ask(...queries: string[]) {
  const answer = await gateway.ask({ queries }, { session });
  quote(answer.text);
  shown += countTokens(answer.text);
  return answer;
}

/** Reads one route, which must succeed. */
async function read<Result>(route: string, params: Readonly<Record<string, unknown>>): Promise<Result> {
  const answer = await gateway.get({ routes: [{ route, params: { ...params } }] }, { session });
  const [result] = answer.results;
  assert.ok(result?.ok, answer.text);
  quote(answer.text);
  return result.data.content as Result;
}

/** Runs an op that must succeed. */
async function run<Result>(op: string, args: Record<string, unknown>, dryRun?: boolean): Promise<Result> {
  const answer = await gateway.exec({ op, args, ...(dryRun !== undefined && { dryRun }) }, { session });
  assert.ok(answer.ok, answer.text);
  quote(answer.text);
  return answer.result as Result;
}

/** Runs an op that must fail with this code. */
async function refused(code: string, op: string, args: Record<string, unknown>, dryRun?: boolean) {
  const answer = await gateway.exec({ op, args, ...(dryRun !== undefined && { dryRun }) }, { session });
  quote(answer.text.split("\n")[0] ?? "");
  assert.ok(!answer.ok, `${op} should have been refused`);
  assert.equal(answer.error.code, code);
}

function rulesFor({ rules }: { rules: { category?: string | undefined; text: string }[] }, category: string) {
  return rules.find((rule) => rule.category === category)?.text ?? "";
}

/** Prints the tokens shown to the model so far, next to the cost of all tools and all rules. */
function cost(type: string, tokens: number): void {
  const saved = Math.round(100 * (1 - tokens / everything));
  console.log(
    `Type ${type}: ${tokens} tokens instead of ${everything} for all tools and rules (${saved} % saved).`,
  );
  assert.ok(tokens < everything);
}
