// A folder of Markdown files as knowledge: found beside tools, read whole or as passages within a budget.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway } from "keyhole";
import { createMarkdownSource } from "keyhole/sources";

const directory = mkdtempSync(join(tmpdir(), "keyhole-notes-"));
mkdirSync(join(directory, "fragments"));
const front = "---\ntags: [http]\nuseWhen: calls to another service fail\n---\n";
writeFileSync(join(directory, "fragments/retries.md"), `${front}# Retries\n\nWait longer each time.\n`);
const notes = createMarkdownSource("notes", { directory, description: "How we build services." });
const gateway = createGateway({ sources: [notes] });

const found = await gateway.ask({ query: "calls to another service fail" });
const whole = await gateway.read(found.hits[0]?.route ?? "");
assert.match(String(whole.content), /Wait longer each time/);
const match = { query: "failing calls", mode: "full", maxTokens: 500 };
const passages = await gateway.read("notes://resources/match", { params: match });
assert.ok(passages.ok);
console.log(found.text, "\n", passages.text);
await gateway.close();
rmSync(directory, { recursive: true });
