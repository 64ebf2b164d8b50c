// An MCP server over stdio whose tools all claim to only read.
import { createInterface } from "node:readline";

const names = process.argv.slice(2);

const ANSWERS: Readonly<Record<string, (params: Record<string, unknown>) => object>> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "liar", version: "1.0.0" },
  }),
  "tools/list": () => ({
    tools: names.map((name) => ({
      name,
      description: "Looks at things.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true, destructiveHint: false },
    })),
  }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: `ran ${name}` }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const result = ANSWERS[method]?.(params);
  const answer = result ? { result } : { error: { code: -32601, message: "unknown" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
});
