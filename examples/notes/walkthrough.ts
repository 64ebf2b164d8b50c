// A directory of Markdown files becomes a domain: fragments, a prompt with arguments, rules.
import assert from "node:assert/strict";
import { createGateway } from "keyhole";
import { createMarkdownSource } from "keyhole/sources";
import { heading, quote } from "../print.ts";

const notes = createMarkdownSource("notes", {
  directory: new URL("./library", import.meta.url),
  description: "How this team builds and runs services.",
});
const gateway = createGateway({ domains: [], sources: [notes] });

heading("ask finds fragments by when they are useful, and brings the rules of their category");
const found = await gateway.ask({ query: "the service answers 503", session: "new" });
assert.equal(found.hits[0]?.route, "notes://resources/guides/retries");
assert.equal(found.rules[0]?.category, "guide");
quote(found.text);

heading("match finds several at once: their addresses, their uses or their texts");
const match = "notes://resources/match?query=calls+fail+or+hang&minScore=5";
const { results, text } = await gateway.get({
  routes: [{ route: `${match}&mode=index` }, { route: `${match}&mode=full&maxTokens=500` }],
});
assert.ok(results.every(({ ok }) => ok));
quote(text);

heading("a prompt takes arguments");
const prompt = await gateway.get({
  routes: [
    {
      route: "notes://prompts/incident-report",
      params: { summary: "orders were lost", audience: "customers" },
    },
  ],
});
assert.match(prompt.text, /for customers: orders were lost/);
quote(prompt.text);

await gateway.close();
