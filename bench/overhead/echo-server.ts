// A small server made with the SDK alone, with one tool that echoes its text. With `http` it serves HTTP and prints
// its address, otherwise it serves stdio.
import type { AddressInfo } from "node:net";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const TOOL = {
  name: "get_echo",
  description: "Says it again.",
  inputSchema: { type: "object" as const, properties: { text: { type: "string" } }, required: ["text"] },
  annotations: { readOnlyHint: true },
};

function makeServer(): Server {
  const server = new Server({ name: "echo", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => ({ tools: [TOOL] }));
  server.setRequestHandler("tools/call", async ({ params }) => ({
    content: [{ type: "text", text: String(params.arguments?.text) }],
  }));
  return server;
}

if (process.argv[2] === "http") {
  const { createServer } = await import("node:http");
  const { toNodeHandler } = await import("@modelcontextprotocol/node");
  const http = createServer(toNodeHandler(createMcpHandler(makeServer)));
  http.listen(0, "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`);
  });
} else {
  serveStdio(makeServer);
}
