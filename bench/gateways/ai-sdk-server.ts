// An application on the AI SDK with the tools of several MCP servers behind `toolSearch()`. It answers list and call
// over stdio like a server, so that it is measured like the gateways.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { asSchema, generateText, isStepCount, type ToolSet, toolSearch } from "ai";
import { createScriptedModel } from "keyhole/testing";
import type { Servers } from "./gateway-peer.ts";

const servers = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Servers;
const connecting = connectAll();

type Params = { name?: string; arguments?: Record<string, unknown> };

const METHODS: Readonly<Record<string, (params: Params) => Promise<object>>> = {
  initialize: async () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "ai-sdk", version: "1" },
  }),
  // An application can ask the model only after its servers have listed their tools.
  "tools/list": async () => {
    await connecting;
    return { tools: [await definitionOf("search", toolSearch())] };
  },
  "tools/call": async ({ name = "", arguments: args = {} }) => {
    const tools = await connecting;
    if (name === "search") return text(await search(tools, String(args.query)));
    return (await tools[name]!.execute!(args, {
      toolCallId: "1",
      messages: [],
      context: {},
    } as never)) as object;
  },
};

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) return;
    const answer = await METHODS[method]!(params).then(
      (result) => ({ result }),
      (error: Error) => ({ error: { code: -32603, message: error.message } }),
    );
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
  })
  .on("close", () => process.exit(0));

/** A turn in which the model searches: it reads the result, and then the definitions that were added. */
async function search(tools: ToolSet, query: string): Promise<string> {
  const model = createScriptedModel((_request, turn) =>
    turn === 0 ? { calls: [{ name: "search", args: { query } }] } : { text: "Done." },
  );
  const { steps } = await generateText({
    model,
    tools: { ...tools, search: toolSearch() },
    prompt: "Find a tool.",
    stopWhen: isStepCount(2),
  });
  const found = model.requests[1]?.tools.filter((name) => name !== "search") ?? [];
  const definitions = await Promise.all(found.map((name) => definitionOf(name, tools[name]!)));
  return [JSON.stringify(steps[0]?.toolResults[0]?.output), JSON.stringify(definitions)].join("\n");
}

async function connectAll(): Promise<ToolSet> {
  const sets = Object.entries(servers).map(async ([server, { command, args, env }]) => {
    const transport = new StdioTransport({ command, args: [...args], env: { ...env } });
    const client = await createMCPClient({ transport });
    const tools = await client.tools();
    return Object.entries(tools).map(([name, tool]) => [
      `${server}_${name}`,
      { ...tool, deferLoading: true },
    ]);
  });
  const found = (await Promise.allSettled(sets)).flatMap((set) =>
    set.status === "fulfilled" ? set.value : [],
  );
  return Object.fromEntries(found) as ToolSet;
}

async function definitionOf(name: string, { description, inputSchema }: ToolSet[string]): Promise<object> {
  return { name, description, inputSchema: await asSchema(inputSchema).jsonSchema };
}

function text(value: string): object {
  return { content: [{ type: "text", text: value }] };
}
