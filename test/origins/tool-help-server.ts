// An MCP server whose one tool has the description that its environment gives.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

serveStdio(() => {
  const server = new McpServer({ name: "tasks", version: "1.0.0" });
  server.registerTool("create_task", { description: process.env.DESCRIPTION ?? "" }, () => ({ content: [] }));
  return server;
});
