import { createGateway, loadTokenCounter, type View } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { afterAll, describe, expect, test } from "vitest";
import { createCms } from "../examples/cms/cms.ts";
import { createLibrary } from "../examples/library/library.ts";
import { verifies } from "./claims.ts";
import { connect, ERAS } from "./mcp/connect.ts";

const CATEGORIES = ["agents", "examples", "guides", "patterns", "skills", "workflows"];
const SKILLS = ["investigate-incident", "review-migration", "review-security", "write-tests"];

const library = createLibrary({ watch: false });
const cms = createCms();
// Tools of another system share the gateway: knowledge must be found among them.
const gateway = createGateway({ domains: [cms.domain], sources: [library], learning: false });
const countTokens = await loadTokenCounter();
const { shown } = await gateway.view();
const fragments = shown.filter(({ metadata }) => metadata.resource_type === "fragment");

afterAll(async () => {
  await gateway.close();
  await cms.close();
});

async function match(params: Record<string, unknown>): Promise<string> {
  const { results, text } = await gateway.get({ routes: [{ route: "library://resources/match", params }] });
  const [result] = results;
  if (!result?.ok) expect.fail(text);
  return String(result.data.content);
}

const words = (entry: View["entries"][number]) => entry.content!.split(/\s+/).length;

verifies("library:fragments", "at least 60 in six categories, short, no two with the same text", () => {
  expect(library.diagnostics().problems).toEqual([]);
  expect(fragments.length).toBeGreaterThanOrEqual(60);
  const groups = Map.groupBy(fragments, ({ category }) => category);
  expect([...groups.keys()].sort()).toEqual(CATEGORIES);
  for (const [category, group] of groups) expect(group.length, category).toBeGreaterThanOrEqual(8);
  expect(new Set(fragments.map(({ description }) => description)).size).toBe(fragments.length);
  const sentences = fragments.flatMap(({ content }) =>
    content!.split(/[.:]\s+/).filter((one) => one.length > 40),
  );
  expect(new Set(sentences).size).toBe(sentences.length);
  for (const entry of fragments) {
    expect(words(entry), entry.route).toBeGreaterThanOrEqual(60);
    expect(words(entry), entry.route).toBeLessThanOrEqual(200);
    expect(entry.phrases.length, entry.route).toBeGreaterThanOrEqual(3);
    expect(entry.tags.length, entry.route).toBeGreaterThanOrEqual(2);
  }
});

test("the size of a fragment is right, whether written or counted", () => {
  for (const { route, content, metadata } of fragments) {
    const counted = countTokens(content!);
    expect(Math.abs(Number(metadata.estimatedTokens) - counted), route).toBeLessThanOrEqual(counted * 0.05);
  }
});

test("files that a text names exist and are related", () => {
  const routes = new Set(fragments.map(({ route }) => route));
  let references = 0;
  for (const { route, content, related } of fragments) {
    const named = new Set([...content!.matchAll(/`([\w-]+)\.md`/g)].map(([, name]) => name!));
    references += named.size;
    expect(related.map((other) => other.split("/").at(-1)).sort(), route).toEqual([...named].sort());
    for (const other of related) expect(routes).toContain(other);
  }
  expect(references).toBeGreaterThanOrEqual(25);
});

test("routes and addresses in prompts and skills exist", async () => {
  const all = (await gateway.view()).entries;
  const routes = new Set(all.map(({ route }) => route));
  const texts = all.filter(({ domain, kind }) => domain === "library" && kind === "prompt");
  const named = texts.flatMap(({ content = "" }) => [...content.matchAll(/library:\/\/[\w/-]+/g)]);
  expect(named.length).toBeGreaterThan(3);
  for (const [route] of named) expect(routes).toContain(route);
});

describe.each(fragments.map((entry) => [entry.route, entry] as const))("%s", (route, entry) => {
  verifies("library:fragments", `${route} is found among the first five by each of its phrases`, async () => {
    for (const query of entry.phrases) {
      const { hits } = await gateway.ask({ query, maxTokens: 5_000 });
      expect(
        hits.slice(0, 5).map((hit) => hit.route),
        query,
      ).toContain(route);
    }
  });

  verifies("library:match", `${route} is in the index, and the catalog shows more of it`, async () => {
    for (const query of entry.phrases) {
      const index = await match({ query, mode: "index" });
      const lines = index.split("\n").length - 1;
      expect(countTokens(index), query).toBeLessThanOrEqual(120);
      // Very short texts gain less.
      if (lines > 2) expect(countTokens(index), query).toBeGreaterThanOrEqual(50);
      const catalog = await match({ query, mode: "catalog" });
      expect(countTokens(catalog), query).toBeGreaterThanOrEqual(countTokens(index) * 1.85);
      expect(catalog, query).toContain(route);
    }
  });
});

verifies("library:match", "texts after the best three keep to the budget", async () => {
  for (const query of [
    "database migration",
    "api errors",
    "security of secrets",
    "slow performance",
    "testing",
  ]) {
    for (const maxTokens of [600, 1_000, 2_000]) {
      const full = await match({ query, mode: "full", maxTokens });
      const texts = fragments.filter(({ content }) => full.includes(content!));
      const used = texts.reduce((sum, { metadata }) => sum + Number(metadata.estimatedTokens), 0);
      expect(texts.length).toBeGreaterThanOrEqual(3);
      if (texts.length > 3) expect(used).toBeLessThanOrEqual(maxTokens);
    }
  }
});

verifies("library:match", "tags and categories narrow what matches", async () => {
  const narrowed = await match({ query: "database", tags: ["migration"], categories: ["workflow"] });
  expect(narrowed).toContain("library://resources/workflows/add-database-column");
  expect(narrowed).not.toContain("library://resources/guides/");
});

describe.each(ERAS)("a client of %s", (era) => {
  verifies(
    "library:prompts-and-skills",
    "gets prompts filled in, and the names of missing arguments",
    async () => {
      const { client } = await connect(createMcpServer(gateway), era);
      const { prompts } = await client.listPrompts();
      expect(
        prompts.map(({ name, arguments: given = [] }) => [
          name,
          given.map((one) => [one.name, one.required]),
        ]),
      ).toEqual([
        [
          "add-feature",
          [
            ["feature", true],
            ["area", false],
          ],
        ],
        [
          "fix-bug",
          [
            ["symptom", true],
            ["since", false],
            ["severity", false],
          ],
        ],
        [
          "new-project",
          [
            ["description", true],
            ["language", false],
            ["database", false],
          ],
        ],
      ]);
      const asked = { description: "a shop for bread", language: "Go", database: "SQLite" };
      const { messages } = await client.getPrompt({ name: "new-project", arguments: asked });
      const { text } = messages[0]!.content as { text: string };
      expect(text).toContain("# Start a project: a shop for bread");
      expect(text).toContain("Language: Go. Database: SQLite.");
      expect(text).not.toContain("${");
      await expect(client.getPrompt({ name: "fix-bug", arguments: {} })).rejects.toSatisfy((error) =>
        JSON.stringify([String(error), (error as { data?: unknown }).data]).includes("symptom"),
      );
    },
  );
});

verifies(
  "library:prompts-and-skills",
  "skills are listed, found by their description, and have files",
  async () => {
    const skills = shown.filter(({ kind, domain }) => kind === "skill" && domain === "library");
    expect(skills.map(({ name }) => name).sort()).toEqual(SKILLS);
    for (const { route, description } of skills) {
      const { hits } = await gateway.ask({ query: description.split(". ")[0]!, maxTokens: 5_000 });
      expect(hits.slice(0, 5).map((hit) => hit.route)).toContain(route);
      const { results } = await gateway.get({ routes: [{ route }] });
      const text = results[0]?.ok ? String(results[0].data.content) : "";
      const file = /references\/\w+\.md/.exec(text)?.[0];
      const read = await gateway.get({ routes: [{ route: `${route}/${file}` }] });
      expect(read.summary, file).toMatchObject({ succeeded: 1 });
    }
  },
);

verifies("library:fragments", "the rules of a category come with its fragments, once a session", async () => {
  const query = "a dependency that is down drags the whole service with it";
  const first = await gateway.ask({ query, session: "new" });
  expect(first.rules.map(({ category }) => category)).toContain("patterns");
  const second = await gateway.ask({ query, session: first.session! });
  expect(second.rules).toEqual([]);
});

verifies("library:fragments", "help shows an example for every entry, and get accepts it", async () => {
  const entries = shown.filter(({ domain }) => domain === "library");
  expect(entries.length).toBe(fragments.length + 3 + SKILLS.length + 1 + CATEGORIES.length);
  for (const { route } of entries) {
    const help = await gateway.help({ path: route });
    if (!("examples" in help) || !help.examples?.[0]) expect.fail(`${route}: no example`);
    expect(help.summary.length, route).toBeGreaterThan(20);
    const read = await gateway.get({ routes: [{ route, params: help.examples[0].args }] });
    expect(read.summary, read.text).toMatchObject({ succeeded: 1, failed: 0 });
  }
});
