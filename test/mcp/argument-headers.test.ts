import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, onTestFinished } from "vitest";
import { verifies } from "../claims.ts";
import { connectHttp } from "./connect.ts";

function serve() {
  const tool = defineTool({
    name: "list_rows",
    op: "db.row.list",
    description: "Lists rows.",
    lane: "read",
    inputSchema: {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        limit: { type: "integer", "x-mcp-header": "Limit" },
      },
    },
    execute: (args) => args,
  });
  const gateway = createGateway({
    domains: [defineDomain({ name: "db", description: "A database.", tools: [tool] })],
  });
  onTestFinished(() => gateway.close());
  return createMcpServer(gateway, { surface: "native" });
}

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;

verifies("mcp:argument-headers", "the SDK's client repeats arguments in headers that match", async () => {
  const { client } = await connectHttp(serve(), "2026-07-28");
  const { tools } = await client.listTools();
  const args = { region: "Zürich\n", limit: 3 };
  const answer = await client.callTool({ name: tools[0]!.name, arguments: args });
  expect(answer.structuredContent ?? JSON.stringify(answer.content)).toMatchObject(args);
});

verifies(
  ["mcp:argument-headers", "T18"],
  "refuses headers that are missing, not Base64, or different",
  async () => {
    const server = serve();
    const call = async (args: object, headers: Record<string, string>) => {
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      };
      const params = { name: "db_row_list", arguments: args, _meta };
      const response = await server.fetch(
        new Request("http://localhost/mcp", {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "db_row_list",
            ...headers,
          },
          body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params }),
        }),
      );
      return { status: response.status, text: await response.text() };
    };
    const refused = { status: 400, text: expect.stringMatching(/"id":7.*-32020/) };
    const region = (said: string) => ({ "mcp-param-region": said });
    expect(await call({ region: "eu" }, {})).toEqual(refused);
    expect(await call({ region: "eu" }, region("us"))).toEqual(refused);
    expect(await call({ region: "Hello" }, region("=?base64?SGVsbG8?="))).toEqual(refused);
    expect(await call({ region: "Hello" }, region("=?base64?SGVs!!!bG8=?="))).toEqual(refused);
    expect(await call({ limit: 3 }, { "mcp-param-limit": "4" })).toEqual(refused);
    expect((await call({ region: "Hello" }, region(base64("Hello")))).status).toBe(200);
    expect((await call({ region: "SGVsbG8=" }, region("SGVsbG8="))).status).toBe(200);
    expect((await call({ limit: 3 }, { "mcp-param-limit": "3.0" })).status).toBe(200);
    expect((await call({}, region("ignored"))).status).toBe(200);
  },
);
