// Makes calls through a gateway over stdio, and prints which functions ran in each of them, in order.
import { resolve } from "node:path";
import { PassThrough } from "node:stream";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { createLineTransport } from "../../src/faces/mcp/line-transport.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";

declare global {
  var walk: string[] | undefined;
}

const server = { command: process.execPath, args: [resolve("src/testing/chaos-upstream.ts")] };
const till = defineDomain({
  name: "till",
  description: "A till.",
  tools: [
    defineTool({
      name: "charge_card",
      op: "till.card.charge",
      description: "Charge a card.",
      requiresConfirmation: true,
      execute: () => "charged",
    }),
  ],
});
const gateway = createGateway({
  domains: [till],
  sources: [createMcpSource("demo", server, { trusted: true })],
  principal: { id: "person", scopes: [], allowWrite: true },
});
await gateway.ready();

const input = new PassThrough();
const output = new PassThrough();
createMcpServer(gateway).connect(createLineTransport(input, output));
const answers = new Map<number, (answer: unknown) => void>();
let text = "";
output.on("data", (bytes) => {
  const lines = `${text}${bytes}`.split("\n");
  text = lines.pop() ?? "";
  for (const line of lines) {
    const { id, method, ...answer } = JSON.parse(line);
    // The person says yes.
    const result = { action: "accept", content: { approve: true } };
    if (method === "elicitation/create") input.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
    else answers.get(id)?.(answer);
  }
});

function request(id: number, method: string, params: object): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  answers.set(id, resolve);
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  return promise;
}

const CALLS = {
  exec: { name: "exec", arguments: { op: "demo.add", args: {} } },
  get: { name: "get", arguments: { routes: ["demo.add"] } },
  ask: { name: "ask", arguments: { query: "add two numbers" } },
  approved: { name: "exec", arguments: { op: "till.card.charge" } },
};
await request(1, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: { elicitation: { form: {} } },
  clientInfo: { name: "walk", version: "1" },
});
input.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
const walks: Record<string, string[]> = {};
let id = 1;
for (const [name, call] of Object.entries(CALLS)) {
  // The first call loads what later ones find loaded.
  await request(++id, "tools/call", call);
  globalThis.walk = [];
  await request(++id, "tools/call", call);
  walks[name] = globalThis.walk;
  globalThis.walk = undefined;
}
console.log(JSON.stringify(walks));
await gateway.close();
process.exit(0);
