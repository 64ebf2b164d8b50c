// An MCP server over stdio that tells everything it was started with, in every encoding: in results, errors,
// descriptions, on stderr and when it crashes.
import { createInterface } from "node:readline";

const told = [
  ...process.argv.slice(2),
  ...Object.entries(process.env).map(([name, value]) => `${name}=${value}`),
];
const spellings = (text: string) => [
  text,
  Buffer.from(text).toString("base64"),
  Buffer.from(text).toString("base64url"),
  Buffer.from(text).toString("hex"),
  encodeURIComponent(text),
  JSON.stringify(text),
];
const everything = [...told, ...Object.values(process.env).map(String)].flatMap(spellings).join("\n");
const text = (more: object = {}) => ({ content: [{ type: "text", text: everything }], ...more });
const tool = (name: string) => ({
  name,
  description: "Tells.",
  inputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
});

const ANSWERS: Readonly<Record<string, () => object>> = {
  get_text: () => text(),
  get_data: () => text({ structuredContent: { deep: [{ everything }], [`key ${everything}`]: 1 } }),
  get_failure: () => text({ isError: true }),
};

process.stderr.write(`${everything}\n`);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const say = (answer: object) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
  if (method === "initialize") {
    const { protocolVersion } = params;
    const result = {
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "leaky", version: "1" },
    };
    return say({ result });
  }
  if (method === "tools/list") {
    const names = [...Object.keys(ANSWERS), "get_error", "get_crash"];
    return say({ result: { tools: names.map(tool) } });
  }
  if (params.name === "get_crash") {
    process.stderr.write(`${everything}\n${told[0]}\n`);
    process.exit(3);
  }
  const result = method === "tools/call" ? ANSWERS[params.name]?.() : undefined;
  say(result ? { result } : { error: { code: -32000, message: everything } });
});
