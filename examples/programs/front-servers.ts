// Your MCP servers behind one MCP server: a client sees four tools and reaches everything.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createGateway } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { fromMcpConfig } from "keyhole/sources";

const program = fileURLToPath(new URL("../upstream/tasks-server.ts", import.meta.url));
const gateway = createGateway({
  sources: fromMcpConfig({ mcpServers: { tasks: { command: process.execPath, args: [program] } } }),
  principal: { id: "me", scopes: [], allowWrite: true }, // without it, nobody writes
});
await gateway.ready();
await gateway.pins.approve("all"); // a person has read the tools; until then nobody can call them

const [here, there] = InMemoryTransport.createLinkedPair();
const server = createMcpServer(gateway).connect(there); // without a transport: over stdio
const client = new Client({ name: "client", version: "1" });
await client.connect(here);
const call = { op: "tasks.add_task", args: { title: "Water the plants" } };
assert.match(JSON.stringify(await client.callTool({ name: "exec", arguments: call })), /Water the plants/);
for (const part of [client, server, gateway]) await part.close();
