// A gateway as an MCP server: over HTTP with a token, used by the SDK's own client.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createGateway } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { domains } from "./keyhole.config.ts";

const gateway = createGateway({ domains, principal: { id: "me", scopes: [], allowWrite: true } });
const server = createMcpServer(gateway, { name: "shop" });
const http = await serveHttp(server);
console.log(`Listening at ${http.url}, for clients with the token.`);

const client = new Client(
  { name: "walkthrough", version: "1" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
);
client.setRequestHandler("elicitation/create", async ({ params }) => {
  console.log(`The person is asked: ${params.message}`);
  return { action: "accept", content: { approve: true } };
});
await client.connect(
  new StreamableHTTPClientTransport(new URL(http.url), {
    requestInit: { headers: { authorization: `Bearer ${http.token}` } },
  }),
);

// Four tools, whatever the catalog has; three of them only read.
const { tools } = await client.listTools();
assert.deepEqual(
  tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
  [
    ["ask", true],
    ["help", true],
    ["get", true],
    ["exec", false],
  ],
);

const found = await client.callTool({ name: "ask", arguments: { query: "give money back" } });
console.log(found.content[0]?.type === "text" && found.content[0].text);

// A tool that requires confirmation runs after the person at the client has approved the exact call.
const sent = await client.callTool({
  name: "exec",
  arguments: { op: "shop.refund.send", args: { order: 1, cents: 4200 } },
});
assert.ok(sent.content[0]?.type === "text");
assert.match(sent.content[0].text, /Sent 4200 cents for order 1\./);

// Documents are also resources.
const { contents } = await client.readResource({ uri: "shop://resources/refunds" });
assert.match(JSON.stringify(contents), /Within 30 days/);

// Without the token every request is refused.
assert.equal((await fetch(http.url, { method: "POST" })).status, 401);

await client.close();
await http.close();
await server.close();
await gateway.close();
