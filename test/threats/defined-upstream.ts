// An MCP server over stdio whose tools are the definitions of a JSON file, read again for each listing.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const file = process.argv[2] ?? "";

const ANSWERS: Readonly<Record<string, (params: Record<string, unknown>) => object>> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "defined", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: JSON.parse(readFileSync(file, "utf8")) }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: `ran ${name}` }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const result = ANSWERS[method]?.(params);
  const answer = result ? { result } : { error: { code: -32601, message: "unknown" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
});
