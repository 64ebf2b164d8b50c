// A session remembers what a conversation has found, across turns, restarts and a condensed context.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createGateway,
  createSqliteSessionStore,
  defineDomain,
  defineTool,
  loadTokenCounter,
  renderWorkingMemory,
} from "keyhole";
import { heading, quote } from "../print.ts";

const images = [
  { id: "img-1", filename: "mountain.jpg" },
  { id: "img-2", filename: "lake.jpg" },
];

const cms = defineDomain({
  name: "cms",
  description: "Pages and images of a web site.",
  rules: { images: "Search the images that are there before a new one is downloaded." },
  tools: [
    defineTool({
      name: "search_images",
      description: "Search images by what they show.",
      category: "images",
      // Says where a result has its entities, which the session remembers by name and id.
      extraction: { path: "images", type: "image", nameField: "filename", isArray: true },
      guidance: [{ route: "cms://tools/image/crop", prose: "Make it fit the hero." }],
      execute: () => ({ images }),
    }),
    defineTool({
      route: "cms://tools/image/crop",
      name: "Crop image",
      description: "Crop an image to a format.",
      visibility: "hidden",
      execute: () => "cropped",
    }),
  ],
});

const folder = mkdtempSync(join(tmpdir(), "keyhole-memory-"));
const file = join(folder, "state.db");
const principal = { id: "ann", scopes: [], allowWrite: true };
const countTokens = await loadTokenCounter();

heading("a conversation finds a tool and uses it");
const firstStore = await createSqliteSessionStore(file);
const first = createGateway({ domains: [cms], principal, sessions: firstStore });
const session = await first.openSession();
const found = await first.ask({ query: "search images", session });
await first.get({ routes: [{ route: "cms.image.search" }], session });
quote(found.text);

heading("the block for the system prompt of the next turn");
const block = renderWorkingMemory((await first.session(session)).memory, countTokens);
assert.match(block, /Entities: image mountain.jpg \(img-1\)/);
assert.match(block, /discoveredTools: \["cms.image.search"\]/);
quote(block);
await first.close();
firstStore.close();

heading("everything is back after a restart and after the context was condensed");
const store = await createSqliteSessionStore(file);
const gateway = createGateway({
  domains: [cms],
  principal,
  sessions: store,
  limits: { sessionTokens: 2_000 },
});
const back = await gateway.get({ routes: [{ route: `session://${session}` }] });
assert.match(back.text, /cms:\/\/tools\/image\/crop/);
assert.match(back.text, /Rules for images/);
quote(back.text);

heading("no other principal can read it");
const stranger = { ...principal, id: "bob" };
const refused = await gateway.get({ routes: [{ route: `session://${session}` }] }, { principal: stranger });
assert.equal(refused.summary.failed, 1);
quote(refused.text);

heading("the tokens it has cost, by cause");
const { tokens, total, everything } = (await gateway.report({ session })).ledger;
assert.ok(total > 0 && everything > 0 && tokens.rules > 0);
quote(JSON.stringify({ tokens, total, everything }));

await gateway.close();
store.close();
rmSync(folder, { recursive: true });
