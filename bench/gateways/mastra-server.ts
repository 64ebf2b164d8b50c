// An application on Mastra with the tools of several MCP servers behind its tool search. The packages are in a cache
// folder: mastra-server.ts CONFIG INSTALLED.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Servers } from "./gateway-peer.ts";
import { serveApp } from "./serve-app.ts";

interface MastraTool {
  readonly id: string;
  readonly description?: string;
  readonly inputSchema?: {
    readonly "~standard"?: { readonly jsonSchema?: { input(options: object): object } };
  };
  execute(args: object, context?: object): Promise<unknown>;
}
type MastraTools = Readonly<Record<string, MastraTool>>;
interface Mastra {
  readonly MCPClient: new (
    options: object,
  ) => { listTools(): Promise<MastraTools>; disconnect(): Promise<void> };
  readonly ToolSearchProcessor: new (
    options: object,
  ) => { processInputStep(step: object): Promise<{ tools: MastraTools }>; clearAllState(): void };
}

const [config = "", installed = ""] = process.argv.slice(2);
const servers = JSON.parse(readFileSync(config, "utf8")) as Servers;
const load = createRequire(join(installed, "package.json"));
const { MCPClient } = load("@mastra/mcp") as Mastra;
const { ToolSearchProcessor } = load("@mastra/core/processors") as Mastra;
const client = new MCPClient({ servers, timeout: 60_000 });
const started = start();

serveApp({
  name: "mastra",
  menu: async () => {
    const { search_tools } = await (await started).step();
    return [definitionOf("search", search_tools!)];
  },
  search: async (query) => {
    const { step, clear } = await started;
    clear();
    const found = await (await step()).search_tools!.execute({ query }, {});
    const { search_tools: _, ...active } = await step();
    const definitions = Object.entries(active).map(([name, tool]) => definitionOf(name, tool));
    return [JSON.stringify(found), JSON.stringify(definitions)].join("\n");
  },
  call: async (name, args) => {
    const result = await (await started).tools[name]!.execute(args, {});
    const { content } = result as { content?: unknown };
    // Structured content comes alone, and it may have a field of that name.
    return Array.isArray(content)
      ? (result as object)
      : { content: [{ type: "text", text: JSON.stringify(result) }] };
  },
  close: () => client.disconnect(),
});

/** One conversation: each step gives the tools that the model is shown next. */
async function start() {
  const tools = await client.listTools();
  const processor = new ToolSearchProcessor({ tools, search: { autoLoad: true } });
  const step = async () => {
    const given = { messages: [], tools: {}, systemMessages: [], messageList: { addSystem: () => {} } };
    return (await processor.processInputStep(given)).tools;
  };
  return { tools, step, clear: () => processor.clearAllState() };
}

function definitionOf(name: string, { description, inputSchema }: MastraTool): object {
  const schema = inputSchema?.["~standard"]?.jsonSchema?.input({ target: "draft-07" });
  return { name, description, inputSchema: schema ?? {} };
}
