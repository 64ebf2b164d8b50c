// An MCP server over HTTP with a key for each agent: one may write, the other may only read.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createGateway, defineDomain, defineTool, type Principal } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";

const tools = [
  defineTool({ name: "open_door", description: "Open the door.", lane: "write", execute: () => "open" }),
];
const gateway = createGateway({ domains: [defineDomain({ name: "house", description: "A house.", tools })] });

const agents = new Map<string, Principal>([
  ["key-of-the-butler", { id: "butler", scopes: [], allowWrite: true }],
  ["key-of-the-guest", { id: "guest", scopes: [], allowWrite: false }],
]);
const http = await serveHttp(createMcpServer(gateway), {
  tokens: { find: async (token) => agents.get(token) }, // a table of your database, by the hash of the key
});

async function openDoor(key: string): Promise<string> {
  const client = new Client({ name: "agent", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(http.url), { requestInit }));
  const { content } = await client.callTool({ name: "exec", arguments: { op: "house.door.open", args: {} } });
  await client.close();
  return content[0]?.type === "text" ? content[0].text : "";
}
assert.match(await openDoor("key-of-the-butler"), /open$/);
assert.match(await openDoor("key-of-the-guest"), /PERMISSION_DENIED/);
assert.equal((await fetch(http.url, { method: "POST" })).status, 401);
console.log(await openDoor("key-of-the-guest"));
await http.close();
await gateway.close();
