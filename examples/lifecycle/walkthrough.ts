import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContentFormat, type ContentSource, createGateway, defineDomain, onEvent } from "keyhole";

// A wiki in memory that counts requests.
const pages = new Map([["deploy", "Deploy on Tuesdays, never on Fridays."]]);
let requests = 0;
let down = false;

const wiki: ContentSource = {
  name: "wiki",
  listDocuments: async () => {
    requests += 1;
    return [...pages].map(([id, text]) => ({ id, name: id, contentType: "text/plain", version: text }));
  },
  fetchContent: async (id) => {
    requests += 1;
    if (down) throw new Error("the wiki is down");
    return { id, name: id, contentType: "text/plain", content: pages.get(id) ?? "" };
  },
};
const text: ContentFormat = {
  name: "text",
  canHandle: (type) => type === "text/plain",
  parse: ({ id, name, content }) => [{ id, name, path: id, content }],
};

const cacheDirectory = mkdtempSync(join(tmpdir(), "keyhole-lifecycle-"));
const team = defineDomain({
  name: "team",
  description: "How the team works.",
  extractors: [{ source: wiki, formats: [text], cacheTtlMs: 3_600_000 }],
});
const start = () => createGateway({ domains: [team], cacheDirectory });

const stop = onEvent((event) => {
  if (event.type === "source") console.log(event.source, event.state, event.detail ?? "");
});
const first = start();
assert.equal((await first.ask({ query: "when to deploy" })).hits[0]?.name, "deploy");
assert.equal(requests, 2);

// A new page: a refresh fetches only this page, and it can be found.
pages.set("review", "Two people review every change.");
await first.sources.refresh("team/wiki");
assert.equal(requests, 4);
assert.equal((await first.ask({ query: "who reviews a change" })).hits[0]?.name, "review");

// A read that fails halfway changes nothing, and the status says why.
pages.set("review", "Three people review every change.");
down = true;
await assert.rejects(first.sources.refresh("team/wiki"), /the wiki is down/);
const { count, isFresh, lastError } = await first.sources.status("team/wiki");
assert.deepEqual({ count, isFresh, lastError }, { count: 2, isFresh: true, lastError: "the wiki is down" });
await first.close();

// The next start makes no request: the cached pages are fresh.
requests = 0;
const second = start();
assert.equal((await second.ask({ query: "who reviews a change" })).hits[0]?.name, "review");
assert.equal(requests, 0);

// A rebuild names the sources that failed. Their earlier content stays.
const { failed } = await second.sources.rebuild();
assert.deepEqual(
  failed.map(({ source, problem }) => `${source}: ${problem.code}`),
  ["team/wiki: CALL_FAILED"],
);
down = false;
assert.deepEqual(await second.sources.rebuild(), { wasFresh: true, failed: [] });
const read = await second.get({ routes: [{ route: "team://resources/review" }] });
assert.match(read.text, /Three people/);
await second.close();

stop();
rmSync(cacheDirectory, { recursive: true });
