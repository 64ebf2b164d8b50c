// A small third-party MCP server over stdio.
import { createInterface } from "node:readline";

const tasks = new Map<number, string>();

const tools = [
  {
    name: "add_task",
    description: "Write down something to do.",
    inputSchema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
    annotations: { destructiveHint: false },
  },
  {
    name: "list_tasks",
    description: "Everything that is still to do.",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
  },
];

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answer(method, params);
  const error = { code: -32601, message: "Method not found" };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
});

function answer(method: string, params: { name: string; arguments: { title: string } }): object | undefined {
  if (method === "initialize") {
    const serverInfo = { name: "tasks", version: "1.0.0" };
    return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools };
  if (method !== "tools/call") return undefined;
  if (params.name === "add_task") tasks.set(tasks.size + 1, params.arguments.title);
  return { content: [{ type: "text", text: JSON.stringify([...tasks.values()]) }] };
}
