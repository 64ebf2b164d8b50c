// Folders with a SKILL.md become skills: ask finds them, get reads them with their files.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createGateway, type Source } from "keyhole";
import { discloseSkills, readSkills, skillDrafts } from "keyhole/sources";
import { heading, quote } from "../print.ts";

const folder = fileURLToPath(new URL("./library", import.meta.url));
const { skills, refused } = await readSkills([{ origin: "project", folder }]);
assert.deepEqual(refused, []);

const library: Source = {
  id: "library",
  contents: async function* () {
    const domain = { name: "library", description: "How we work.", scopes: [], rules: [] };
    yield { domains: [domain], drafts: skillDrafts(skills, "library") };
  },
};
const gateway = createGateway({ domains: [], sources: [library] });

heading("ask finds a skill among tools and documents");
const found = await gateway.ask({ query: "check a database migration" });
assert.equal(found.hits[0]?.route, "library://skills/review-sql");
quote(found.text);

heading("get reads it, and its files by their routes");
const { results } = await gateway.get({
  routes: [
    { route: "library://skills/review-sql" },
    { route: "library://skills/review-sql/references/locks.md" },
  ],
});
for (const result of results) {
  assert.ok(result.ok);
  quote(String(result.data.content));
}

heading("the query decides how much of the skills a prompt gets");
assert.equal(discloseSkills("write a poem", skills).text, "[1 skill available]");
assert.equal(discloseSkills("what can you do?", skills).tier, "registry");
assert.equal(discloseSkills("review this migration", skills).tier, "full");
quote(discloseSkills("what can you do?", skills).text);

await gateway.close();
