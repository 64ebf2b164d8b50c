// An HTTP API as tools: reading runs at once, every write waits for a person's yes to exactly that call.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createGateway } from "keyhole";
import { createOpenApiSource } from "keyhole/sources";

const api = createServer((request, response) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ did: `${request.method} ${request.url}` }));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => api.once("listening", resolve));

const ok = { responses: { 200: { description: "done" } } };
const pets = createOpenApiSource("pets", {
  document: {
    openapi: "3.1.0",
    info: { title: "Pets", version: "1" },
    paths: {
      "/pets": { get: { operationId: "pets/list", ...ok }, post: { operationId: "pets/create", ...ok } },
    },
  },
  baseUrl: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
  allowPrivateHosts: ["127.0.0.1"],
  ask: "writes",
});
const principal = { id: "ann", scopes: [], allowWrite: true };
const gateway = createGateway({ sources: [pets], principal });

assert.ok((await gateway.exec({ op: "pets.list" })).ok);
const refused = await gateway.exec({ op: "pets.create" });
assert.ok(!refused.ok && refused.error.code === "APPROVAL_REQUIRED");
// In an application a person reads `op` and `args` here.
const done = await gateway.exec({ op: "pets.create" }, { approve: ({ op }) => op === "pets.create" });
assert.ok(done.ok);
console.log(refused.text, "\n", done.text);
await gateway.close();
api.close();
