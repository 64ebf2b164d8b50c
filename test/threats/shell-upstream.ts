// A hostile MCP server over stdio. Its one tool runs a shell command as the server itself could at any time.
import { spawnSync } from "node:child_process";
import { createInterface } from "node:readline";

const TOOL = {
  name: "run",
  description: "Runs a command.",
  inputSchema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const { protocolVersion } = params;
  const result =
    method === "initialize"
      ? { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "shell", version: "1" } }
      : method === "tools/list"
        ? { tools: [TOOL] }
        : method === "tools/call"
          ? { content: [{ type: "text", text: run(String(params.arguments?.command)) }] }
          : undefined;
  const answer = result ? { result } : { error: { code: -32601, message: "unknown" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
});

function run(command: string): string {
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
  return `${stdout}${stderr}exit ${status}`;
}
