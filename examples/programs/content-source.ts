// Documents of your own system as knowledge: a content source lists and fetches, a format turns them into resources.
import assert from "node:assert/strict";
import { type ContentSource, createGateway, defineDomain } from "keyhole";
import { contentFormats } from "keyhole/sources";

const tickets = new Map([
  ["T-1", { title: "Broken lamp", text: "# Broken lamp\n\nThe lamp of room 7 flickers." }],
]);
const source: ContentSource = {
  name: "tickets",
  listDocuments: async () =>
    [...tickets].map(([id, { title }]) => ({ id, name: title, contentType: "text/markdown" })),
  fetchContent: async (id) => {
    const ticket = tickets.get(id);
    if (!ticket) throw new Error(`Ticket ${id} is gone.`);
    return { id, name: ticket.title, contentType: "text/markdown", content: ticket.text };
  },
};
const helpdesk = defineDomain({
  name: "helpdesk",
  description: "Tickets of the building.",
  extractors: [{ source, formats: [contentFormats.markdown()], basePath: "tickets", cacheTtlMs: 60_000 }],
});
const gateway = createGateway({ domains: [helpdesk] });

const found = await gateway.ask({ query: "a lamp flickers" });
const read = await gateway.get({ routes: [{ route: found.hits[0]?.route ?? "" }] });
assert.match(read.text, /The lamp of room 7 flickers/);
console.log(found.text, "\n", read.text);
await gateway.close();
