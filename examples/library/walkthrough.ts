// A library of engineering knowledge: matched in three modes, and found by ask together with a website's tools.
import assert from "node:assert/strict";
import { createGateway, loadTokenCounter } from "keyhole";
import { createCms } from "../cms/cms.ts";
import { heading, quote } from "../print.ts";
import { createLibrary } from "./library.ts";

const library = createLibrary();
const cms = createCms();
const gateway = createGateway({ domains: [cms.domain], sources: [library] });
const countTokens = await loadTokenCounter();

heading("1. Fragments of six categories, prompts and skills");
const { shown } = await gateway.view();
const entries = shown.filter(({ domain }) => domain === "library");
const fragments = entries.filter(({ metadata }) => metadata.resource_type === "fragment");
const byCategory = Map.groupBy(fragments, ({ category }) => category);
for (const [category, group] of byCategory) console.log(`${category}: ${group.length}`);
assert.ok(fragments.length >= 60 && byCategory.size === 6);
assert.deepEqual(library.diagnostics().problems, []);

heading("2. match, mode index: addresses, within 120 tokens");
const query = "calls fail now and then, retries make the outage worse";
const index = await match({ query, mode: "index" });
const indexTokens = countTokens(index);
assert.ok(indexTokens >= 50 && indexTokens <= 120, `${indexTokens} tokens`);
assert.match(index, /patterns\/retry-backoff/);

heading("3. mode catalog: the use of each fragment");
const catalog = await match({ query, mode: "catalog", maxResults: 3 });
assert.ok(countTokens(catalog) >= indexTokens * 1.85, "a catalog shows at least 85 % more");

heading("4. mode full: the texts, within a budget");
const full = await match({ query, mode: "full", maxTokens: 700, categories: ["patterns"] });
const texts = fragments.filter(({ content }) => content && full.includes(content));
const textTokens = texts.reduce((sum, { content }) => sum + countTokens(content!), 0);
assert.ok(texts.length > 3 && textTokens <= 700, `${texts.length} texts of ${textTokens} tokens`);
assert.match(full, /full jitter is what keeps a thousand clients from returning in step/);

heading("5. ask ranks fragments together with tools");
const found = await gateway.ask({
  query: "validate input of a web form, and create a page for it",
  session: "new",
});
quote(found.text);
const places = found.hits.map(({ route }) => route);
assert.ok(places.includes("library://resources/skills/input-validation"));
assert.ok(places.some((route) => route.startsWith("cms://tools/")));

heading("6. A fragment leads to others, and brings the rules of its category");
const outage = await gateway.ask({ query: "production is down right now", session: "new" });
quote(outage.text);
assert.equal(outage.hits[0]?.route, "library://resources/workflows/incident-response");
assert.ok(outage.rules.some(({ category }) => category === "workflows"));
const incident = fragments.find(({ route }) => route === outage.hits[0]?.route);
assert.deepEqual(incident?.related, ["library://resources/workflows/postmortem"]);

heading("7. A prompt takes arguments, a skill has files");
const { results, text } = await gateway.get({
  routes: [
    { route: "library://prompts/fix-bug", params: { symptom: "totals differ by a cent", severity: "high" } },
    { route: "library://skills/review-migration/references/locks.md" },
  ],
});
quote(text);
assert.ok(results.every(({ ok }) => ok));
assert.match(text, /Fix a bug: totals differ by a cent/);

await gateway.close();
await cms.close();

/** Runs a match and returns the text for the model. */
async function match(params: Record<string, unknown>): Promise<string> {
  const answer = await gateway.get({ routes: [{ route: "library://resources/match", params }] });
  const [result] = answer.results;
  assert.ok(result?.ok, answer.text);
  const content = String(result.data.content);
  quote(content);
  return content;
}
