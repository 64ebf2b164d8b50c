import assert from "node:assert/strict";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { z } from "zod";

const notes = new Map<number, string>();

const domain = defineDomain({
  name: "notes",
  description: "Short notes that a team keeps.",
  tools: [
    defineTool({
      name: "create_note",
      description: "Write down a note.",
      inputSchema: z.object({ text: z.string().min(1), pinned: z.boolean().default(false) }),
      execute: ({ text, pinned }) => {
        const id = notes.size + 1;
        notes.set(id, text);
        return { id, pinned };
      },
    }),
    defineTool({
      name: "search_notes",
      description: "Find notes by a word in them.",
      phrases: ["what did we write about"],
      inputSchema: z.object({ word: z.string() }),
      execute: ({ word }) => [...notes.values()].filter((text) => text.includes(word)),
    }),
  ],
});

const gateway = createGateway({
  domains: [domain],
  principal: { id: "me", scopes: [], allowWrite: true },
});

// A model sees four tools: ask, help, get and exec.
const menu = await gateway.menu();
assert.deepEqual(
  menu.map((tool) => tool.name),
  ["ask", "help", "get", "exec"],
);

// It uses them like this.
const found = await gateway.ask({ query: "create a note" });
assert.equal(found.hits[0]?.op, "notes.note.create");
console.log(found.text);

const made = await gateway.exec({ op: "notes.note.create", args: { text: "Ship on Friday" } });
assert.ok(made.ok);

const read = await gateway.get({ routes: [{ route: "notes.note.search", params: { word: "Friday" } }] });
assert.equal(read.summary.success, 1);
console.log(read.text);

await gateway.close();
