import { createInterface } from "node:readline";

/** A server with a good tool, a malformed one, and one whose schema is nested: `node bounds-upstream.ts DEPTH KEYWORD inputSchema`. */
const [depth = "0", keyword = "items", place = "inputSchema"] = process.argv.slice(2);

const levels = Number(depth);
const [open, close] = keyword === "properties" ? ['{"properties":{"a":', "}}"] : [`{"${keyword}":`, "}"];
const [first, last] = keyword === "anyOf" ? ['{"anyOf":[', "]}"] : [open, close];
const nested = JSON.parse(`${first.repeat(levels)}{}${last.repeat(levels)}`);
const tools = [
  { name: "good", inputSchema: { type: "object" } },
  { name: "malformed", inputSchema: { type: "string" } },
  { name: "deep", inputSchema: { type: "object" }, [place]: { type: "object", ...nested } },
];
const answers: Record<string, (params: { protocolVersion?: string }) => object> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "nested", version: "1" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": () => ({ content: [{ type: "text", text: "fine" }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const outcome = answer
    ? { result: answer(params ?? {}) }
    : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
});
