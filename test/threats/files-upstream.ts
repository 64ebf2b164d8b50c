// An MCP server over stdio with three tools. Each deletion and each note is one line of the file LOG; mail says MAIL.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const object = (...names: string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});
const tools = [
  {
    name: "delete_file",
    description: "Deletes a file.",
    inputSchema: object("path"),
    annotations: { readOnlyHint: false, destructiveHint: true },
  },
  {
    name: "write_note",
    description: "Writes a note.",
    inputSchema: object("text"),
    annotations: { readOnlyHint: false, destructiveHint: false },
  },
  {
    name: "read_mail",
    description: "Reads the newest mail.",
    inputSchema: object(),
    annotations: { readOnlyHint: true },
  },
];

function call(name: string, args: Record<string, unknown>): string {
  if (name === "read_mail") return process.env.MAIL ?? "Lunch at noon?";
  appendFileSync(process.env.LOG ?? "", `${name} ${JSON.stringify(args)}\n`);
  return `done ${JSON.stringify(args)}`;
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const results: Record<string, () => object> = {
    initialize: () => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "files", version: "1.0.0" },
    }),
    "tools/list": () => ({ tools }),
    "tools/call": () => ({ content: [{ type: "text", text: call(params.name, params.arguments ?? {}) }] }),
  };
  const result = results[method]?.();
  const answer = result ? { result } : { error: { code: -32601, message: "unknown" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
});
