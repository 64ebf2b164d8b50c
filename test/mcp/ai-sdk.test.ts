import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { createGateway } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { expect } from "vitest";
import { domains } from "../../examples/mcp/keyhole.config.ts";
import { verifies } from "../claims.ts";

const SERVE = ["src/program/main.ts", "serve", "--allow-write", "--config", "examples/mcp/keyhole.config.ts"];
const CALL = { toolCallId: "1", messages: [] };

type Transport = Parameters<typeof createMCPClient>[0]["transport"];

/** Finds, reads and runs like a model: through the tools that the client makes of ours. */
async function callThrough(transport: Transport): Promise<void> {
  const client = await createMCPClient({ transport });
  try {
    const tools = await client.tools();
    expect(Object.keys(tools)).toEqual(["ask", "help", "get", "exec"]);
    const run = async (name: string, input: object) =>
      (await tools[name]!.execute!(input, CALL as never)) as { content: { text: string }[] };
    const asked = await run("ask", { query: "list orders" });
    expect(asked.content[0]?.text).toContain("- shop://tools/order/list");
    const read = await run("get", { routes: [{ route: "shop://tools/order/list" }] });
    expect(read.content[0]?.text).toContain("Ada");
    const made = await run("exec", { op: "shop.order.create", args: { customer: "Bob", cents: 100 } });
    expect(made.content[0]?.text).toMatch(/^shop\.order\.create: \{"id":\d+/);
  } finally {
    await client.close();
  }
}

verifies("mcp:real-clients", "the AI SDK's client asks, reads and runs over stdio", () =>
  callThrough(new Experimental_StdioMCPTransport({ command: process.execPath, args: SERVE })),
);

verifies(
  "mcp:real-clients",
  "the AI SDK's client asks, reads and runs over HTTP with the token",
  async () => {
    const gateway = createGateway({ domains, principal: { id: "me", scopes: [], allowWrite: true } });
    const server = createMcpServer(gateway);
    const http = await serveHttp(server);
    try {
      const headers = { authorization: `Bearer ${http.token}` };
      await callThrough({ type: "http", url: http.url, headers });
      await expect(callThrough({ type: "http", url: http.url })).rejects.toThrow();
    } finally {
      await http.close();
      await server.close();
      await gateway.close();
    }
  },
);
