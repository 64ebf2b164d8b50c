// An MCP server over stdio with one tool that reads and one that writes. Both tell the process that answers.
import { createInterface } from "node:readline";

const [subject = "notes"] = process.argv.slice(2);
const tool = (name: string, description: string, readOnlyHint: boolean) => ({
  name,
  description,
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
  annotations: { readOnlyHint, destructiveHint: false },
});
const TOOLS = [
  tool(`list_${subject}`, `Lists all ${subject}.`, true),
  tool(`create_${subject}`, `Creates ${subject}.`, false),
];

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const say = (result: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
  if (method === "initialize")
    return say({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "desk", version: "1" },
    });
  if (method === "tools/list") return say({ tools: TOOLS });
  say({ content: [{ type: "text", text: `${params.name} by process ${process.pid}` }] });
});
