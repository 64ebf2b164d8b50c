// Small files in the shapes of the projects' own data: headings, ticks and colons, spare rules, a left collection.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tryOriginals } from "../../scripts/origins.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const SHAPES = "test/origins/originals";

test("the shapes of the originals are read, found and told as the page says", async () => {
  const rows = await tryOriginals(SHAPES);
  for (const { check, ok, found } of rows) expect(ok, `${check}: ${found}`).toBe(true);
  const told = rows.map(({ found }) => found).join("\n");
  expect(told).toContain("rules for the category pexels, which no entry has, are not used");
  expect(told).toContain("fragments/guides/broken.md:1:1");
  expect(told).toContain("fragments/guides/apis.md: useWhen has an item with a colon");
});

test("a folder without some of the data is tried with the rest, and the missing parts are named", async () => {
  const data = temporaryFolder();
  cpSync(join(SHAPES, "library"), join(data, "library"), { recursive: true });
  writeFileSync(join(data, "typesense.json"), JSON.stringify({ name: "wiki_pages", fields: [] }));
  const rows = await tryOriginals(data);
  expect(rows.map(({ part, ok }) => [part, ok])).toEqual([
    ["tools", undefined],
    ["library", true],
    ["typesense", true],
  ]);
  expect(rows[0]?.found).toContain("tools/*.json");
});

test("a need whose tool stands below one that destroys fails its row", async () => {
  const data = temporaryFolder();
  mkdirSync(join(data, "tools"));
  const tools = ["delete_page", "publish_page"].map((name) => ({
    name,
    description: `${name.replace("_", " ")}.`,
  }));
  writeFileSync(join(data, "tools/site.json"), JSON.stringify(tools));
  writeFileSync(join(data, "needs.json"), JSON.stringify({ "delete the page": ["publish_page"] }));
  const failed = (await tryOriginals(data)).filter(({ ok }) => ok === false).map(({ part }) => part);
  expect(failed).toEqual(["needs", "needs"]);
});
