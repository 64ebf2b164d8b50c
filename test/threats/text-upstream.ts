// An MCP server over stdio that says what its environment tells it to: lists and answers as JSON in SAYS, or
// in the file that SAYS_FILE names, by method. A tool answers with the entry of SAYS that has its name.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { SAYS = "{}", SAYS_FILE: file } = process.env;
const says = JSON.parse(file === undefined ? SAYS : readFileSync(file, "utf8")) as Readonly<
  Record<string, object>
>;

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const result =
    method === "initialize"
      ? {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {}, prompts: {}, resources: {} },
          serverInfo: { name: "says", version: "1.0.0" },
        }
      : method === "tools/call"
        ? says[params.name]
        : says[method];
  const answer = result ? { result } : { error: { code: -32601, message: says.refusal ?? "unknown" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
});
