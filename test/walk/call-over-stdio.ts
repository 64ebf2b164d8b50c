// Calls one tool of an MCP server through a gateway over stdio, and prints which functions ran, in order.
import { resolve } from "node:path";
import { PassThrough } from "node:stream";
import { createGateway } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { createLineTransport } from "../../src/faces/mcp/line-transport.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";

declare global {
  var walk: string[] | undefined;
}

const server = { command: process.execPath, args: [resolve("src/testing/chaos-upstream.ts")] };
const gateway = createGateway({
  domains: [],
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
    const answer = JSON.parse(line);
    answers.get(answer.id)?.(answer);
  }
});

function request(id: number, method: string, params: object): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  answers.set(id, resolve);
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  return promise;
}

const call = (id: number) =>
  request(id, "tools/call", { name: "exec", arguments: { op: "demo.add", args: {} } });
await request(1, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "walk", version: "1" },
});
input.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
// The first call loads what later ones find loaded.
await call(2);
globalThis.walk = [];
await call(3);
const steps = globalThis.walk;
globalThis.walk = undefined;
console.log(JSON.stringify(steps));
await gateway.close();
process.exit(0);
