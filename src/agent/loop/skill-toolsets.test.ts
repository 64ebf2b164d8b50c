import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway } from "keyhole";
import { readSkills } from "keyhole/sources";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { loadSkillToolsets } from "./skills-for.ts";

const TOOL = `({ name, description: "Counts the books on a shelf.", execute: () => ({ books: 3 }) })`;

async function skillWith(toolsets: readonly string[], files: Readonly<Record<string, string>>) {
  const place = temporaryFolder();
  const folder = join(place, "shelf");
  mkdirSync(join(folder, "tools"), { recursive: true });
  writeFileSync(
    join(folder, "SKILL.md"),
    `---\nname: shelf\ndescription: Books on shelves.\ntoolsets: [${toolsets.map((toolset) => JSON.stringify(toolset)).join(", ")}]\n---\nCount first.\n`,
  );
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  const { skills, refused } = await readSkills([{ origin: "user", folder: place }]);
  expect(refused).toEqual([]);
  return skills;
}

test("a list, a function and a class each provide tools that the gateway runs", async () => {
  const skills = await skillWith(
    ["tools/list.mjs:TOOLS", "tools/make.mjs:makeTools", "tools/class.mjs:Shelf"],
    {
      "tools/list.mjs": `const name = "count_books"; export const TOOLS = [${TOOL}];`,
      "tools/make.mjs": `const name = "count_shelves"; export const makeTools = async () => [${TOOL}];`,
      "tools/class.mjs": `const name = "count_rooms"; export class Shelf { getTools() { return [${TOOL}]; } }`,
    },
  );
  const { domains, refused } = await loadSkillToolsets(skills);
  expect(refused).toEqual([]);
  const gateway = createGateway({ domains });
  const { hits } = await gateway.ask({ query: "count books", limit: 10 });
  expect(hits.map(({ name }) => name).sort()).toEqual(["count_books", "count_rooms", "count_shelves"]);
  const answer = await gateway.get({ routes: [{ route: hits[0]!.route }] });
  expect(answer.text).toContain("3");
  await gateway.close();
});

test("a toolset that is missing, fails or has no tools is refused without the others", async () => {
  const skills = await skillWith(
    ["tools/none.mjs:TOOLS", "tools/broken.mjs:TOOLS", "tools/odd.mjs:constructor", "tools/good.mjs:TOOLS"],
    {
      "tools/broken.mjs": `throw new TypeError("no shelf");`,
      "tools/odd.mjs": `export const other = 1;`,
      "tools/good.mjs": `const name = "count_books"; export const TOOLS = [${TOOL}];`,
    },
  );
  const { domains, refused } = await loadSkillToolsets(skills);
  expect(domains.map(({ name, tools }) => [name, tools?.length])).toEqual([["shelf", 1]]);
  expect(refused).toEqual([
    "shelf: the toolset tools/none.mjs:TOOLS was not loaded: the skill has no such file",
    "shelf: the toolset tools/broken.mjs:TOOLS was not loaded: no shelf",
    "shelf: the toolset tools/odd.mjs:constructor was not loaded: constructor returns no list of tools",
  ]);
});
