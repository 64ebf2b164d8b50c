// Measures what becomes of tools of servers when reading has to be earned: public definitions, which declare nothing,
// and servers that people use, some of which do.
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { installTool } from "../scripts/tool.ts";
import { type DeclaredTool, impliedLane, laneOfTool } from "../src/core/catalog/tool-lane.ts";
import { LANES } from "../src/core/nouns/entry.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { realLane } from "./real-lanes.ts";
import { listSets, readJsonLines, type SetTool } from "./tool-sets.ts";

/** Sets of definitions that real servers list. */
const REAL = ["livemcpbench", "mcp-registries", "mcpproxy-golden", "mcpzero"];

export const benchmark: Benchmark = async ({ data }) => {
  const sets = data === undefined ? [] : listSets(data).filter((set) => REAL.includes(set));
  const rows = sets.flatMap((set) => {
    const tools = readJsonLines<SetTool>(join(data!, set, "tools.jsonl"));
    return measure(
      set,
      tools.map(({ name, input_schema }) => ({ name, inputSchema: input_schema })),
    );
  });
  for (const [name, command] of Object.entries(serverCommands())) {
    const tools = await listTools(command);
    rows.push(...measure(name, tools), ...compare(name, tools));
  }
  return rows;
};

/** How often the lane of a tool is what it really does, by the list of `real-lanes.ts`. */
function compare(name: string, tools: readonly DeclaredTool[]): Row[] {
  const wrong = (isWrong: (lane: number, real: number) => boolean) =>
    tools.filter((tool) => {
      const real = realLane(name, tool.name);
      return real !== undefined && isWrong(LANES.indexOf(laneOfTool(tool)), LANES.indexOf(real));
    });
  const row = (metric: string, some: readonly DeclaredTool[]) =>
    ({ bench: "lanes", case: name, system: "keyhole", metric, value: some.length, unit: "tools" }) as const;
  return [
    row(
      "listed by hand",
      tools.filter((tool) => realLane(name, tool.name) !== undefined),
    ),
    row(
      "as they really are",
      wrong((lane, real) => lane === real),
    ),
    row(
      "stricter than they are",
      wrong((lane, real) => lane > real),
    ),
    row(
      "milder than they are",
      wrong((lane, real) => lane < real),
    ),
  ];
}

function measure(name: string, tools: readonly DeclaredTool[]): Row[] {
  const share = (metric: string, some: readonly DeclaredTool[]) =>
    ({ bench: "lanes", case: name, system: "keyhole", metric, value: some.length, unit: "tools" }) as const;
  const says = (tool: DeclaredTool) => tool.annotations?.readOnlyHint === true;
  const [reading, others] = [tools.filter(says), tools.filter((tool) => !says(tool))];
  const hinted = tools.map((tool) => ({ ...tool, annotations: { readOnlyHint: true } }));
  return [
    share("all", tools),
    share("say that they read", reading),
    share(
      "of them reading",
      reading.filter((tool) => laneOfTool(tool) === "read"),
    ),
    share("others", others),
    share(
      "of them look reading",
      others.filter((tool) => impliedLane(tool) === "read"),
    ),
    share(
      "reading if all said so",
      hinted.filter((tool) => laneOfTool(tool) === "read"),
    ),
    share(
      "destroy",
      tools.filter((tool) => laneOfTool(tool) === "destructive"),
    ),
  ];
}

/** Servers of the npm registry, those of the project's own install and those of `tools/servers`. */
function serverCommands(): Readonly<Record<string, readonly string[]>> {
  const bin = (folder: string) => (program: string) => join(folder, "node_modules/.bin", program);
  const [own, more] = [bin("."), bin(installTool("servers"))];
  return {
    filesystem: [own("mcp-server-filesystem"), "."],
    memory: [own("mcp-server-memory")],
    everything: [own("mcp-server-everything")],
    "sequential-thinking": [own("mcp-server-sequential-thinking")],
    github: [more("mcp-server-github")],
    notion: [more("notion-mcp-server")],
    playwright: [more("playwright-mcp"), "--headless"],
    "chrome-devtools": [more("chrome-devtools-mcp")],
  };
}

async function listTools([command = "", ...args]: readonly string[]): Promise<readonly DeclaredTool[]> {
  const client = new Client({ name: "bench", version: "1" });
  const env = { PATH: process.env.PATH ?? "", NOTION_TOKEN: "none", GITHUB_PERSONAL_ACCESS_TOKEN: "none" };
  await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
  const { tools } = await client.listTools();
  await client.close();
  return tools as readonly DeclaredTool[];
}
