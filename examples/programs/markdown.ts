// A folder of Markdown files as knowledge: found beside tools, read whole or as passages within a budget.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway } from "keyhole";
import { createMarkdownSource } from "keyhole/sources";

const directory = mkdtempSync(join(tmpdir(), "keyhole-notes-"));
mkdirSync(join(directory, "fragments"));
const note = join(directory, "fragments/retries.md");
writeFileSync(
  note,
  "---\ntags: [http]\nuseWhen: calls to another service fail\n---\n# Retries\n\nWait longer each time.\n",
);

const notes = createMarkdownSource("notes", { directory, description: "How we build services." });
const gateway = createGateway({ sources: [notes] });

const found = await gateway.ask({ query: "calls to another service fail" });
const route = found.hits[0]?.route ?? "";
const whole = await gateway.get({ routes: [{ route }] });
assert.match(whole.text, /Wait longer each time/);
const match = "notes://resources/match?query=failing+calls&mode=full&maxTokens=500";
const passages = await gateway.get({ routes: [{ route: match }] });
assert.equal(passages.summary.succeeded, 1);
console.log(found.text, "\n", passages.text);

await gateway.close();
rmSync(directory, { recursive: true });
