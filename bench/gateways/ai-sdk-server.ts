// An application on the AI SDK with the tools of several MCP servers behind `toolSearch()`.
import { readFileSync } from "node:fs";
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { asSchema, generateText, isStepCount, type ToolSet, toolSearch } from "ai";
import { createScriptedModel } from "keyhole/testing";
import type { Servers } from "./gateway-peer.ts";
import { serveApp } from "./serve-app.ts";

const servers = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Servers;
const connecting = connectAll();

serveApp({
  name: "ai-sdk",
  menu: async () => {
    await connecting;
    return [await definitionOf("search", toolSearch())];
  },
  search: async (query) => search(await connecting, query),
  call: async (name, args) => {
    const options = { toolCallId: "1", messages: [], context: {} };
    return (await (
      await connecting
    )[name]!.execute!(args, options as never)) as object;
  },
});

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
