// An HTTP API becomes a domain: its OpenAPI document is read, its operations are found and called.
import assert from "node:assert/strict";
import { createGateway } from "keyhole";
import { createOpenApiSource } from "keyhole/sources";
import { heading, quote } from "../print.ts";
import { startLibrary } from "./library-server.ts";

const token = "a-very-secret-token";
const library = await startLibrary(token);

const gateway = createGateway({
  domains: [],
  principal: { id: "librarian", scopes: [], allowWrite: true },
  sources: [
    createOpenApiSource("library", {
      document: new URL("./library.yaml", import.meta.url),
      // The document names its public server. Here it runs on this machine, which must be allowed explicitly.
      baseUrl: library.url,
      allowPrivateHosts: ["127.0.0.1"],
      auth: { type: "bearer", token: () => token },
    }),
  ],
});

heading("ask finds operations by everyday wording");
const found = await gateway.ask({ query: "lend a book" });
assert.equal(found.hits[0]?.op, "library.books.lend");
quote(found.text);

heading("get reads: GET operations are in the read lane");
const read = await gateway.get({
  routes: [{ route: "library.books.list", params: { shelf: ["science", "art"] } }],
});
assert.equal(read.summary.succeeded, 1);
assert.equal(library.requests.at(-1), "GET /api/books?shelf=science&shelf=art");
quote(read.text);

heading("exec writes: path, query and body are one set of arguments");
const lent = await gateway.exec({ op: "library.books.lend", args: { isbn: "978-1", reader: "Ada" } });
assert.ok(lent.ok);
assert.deepEqual(lent.result, { id: 1, reader: "Ada", days: 28 });
quote(lent.text);

heading("an error says what to do next");
const again = await gateway.exec({ op: "library.books.lend", args: { isbn: "978-1", reader: "Bob" } });
assert.ok(!again.ok);
assert.equal(again.error.code, "CONFLICT");
quote(again.text);

heading("a destructive call runs dry first and shows the request");
const dry = await gateway.exec({ op: "library.books.delete", args: { isbn: "978-0" } });
assert.ok(dry.ok);
assert.ok(!library.requests.some((line) => line.startsWith("DELETE")));
quote(dry.text);

heading("no argument escapes from its place in the path");
const sent = library.requests.length;
const hostile = await gateway.exec({ op: "library.books.get", args: { isbn: "../../admin" } });
assert.ok(!hostile.ok);
assert.equal(library.requests.length, sent);
quote(hostile.text);

assert.ok(![found, read, lent, again, dry, hostile].some(({ text }) => text.includes(token)));
await gateway.close();
library.close();
