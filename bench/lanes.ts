// Measures what becomes of tools of servers when reading has to be earned: public definitions, which declare nothing,
// and servers that people use, some of which do.
import { join } from "node:path";
import { createGateway } from "keyhole";
import { fromMcpConfig } from "keyhole/sources";
import { installTool } from "../scripts/tool.ts";
import { type DeclaredTool, impliedLane, laneOfTool } from "../src/core/catalog/tool-lane.ts";
import { LANES, type Lane } from "../src/core/nouns/entry.ts";
import { listApprovals } from "../src/gateway/approvals.ts";
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
    const { tools, marked } = await listTools(name, command);
    rows.push(...measure(name, tools), ...compare(name, tools, marked));
  }
  return rows;
};

/** How often the lane of a tool is what it really does, by the list of `real-lanes.ts`: by itself, and as `R` marks it. */
function compare(name: string, tools: readonly DeclaredTool[], marked: ReadonlyMap<string, Lane>): Row[] {
  const wrong = (isWrong: (lane: number, real: number) => boolean, laneOf = laneOfTool) =>
    tools.filter((tool) => {
      const real = realLane(name, tool.name);
      return real !== undefined && isWrong(LANES.indexOf(laneOf(tool)), LANES.indexOf(real));
    });
  const byKey = (tool: DeclaredTool) => marked.get(tool.name) ?? laneOfTool(tool);
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
    row(
      "with R: as they are",
      wrong((lane, real) => lane === real, byKey),
    ),
    row(
      "with R: stricter",
      wrong((lane, real) => lane > real, byKey),
    ),
    row(
      "with R: milder",
      wrong((lane, real) => lane < real, byKey),
    ),
    row(
      "with R: destroy",
      tools.filter((tool) => byKey(tool) === "destructive"),
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

/** The tools of a server, and the lanes that a person gives them with one key at their approval. */
async function listTools(name: string, [command = "", ...args]: readonly string[]) {
  const env = { NOTION_TOKEN: "none", GITHUB_PERSONAL_ACCESS_TOKEN: "none" };
  const gateway = createGateway({
    sources: fromMcpConfig({ mcpServers: { [name]: { command, args, env } } }),
  });
  await gateway.sources.refresh();
  const { entries } = await gateway.view();
  const [approvals] = await listApprovals(gateway.pins, entries);
  await gateway.close();
  const tools = (approvals?.definitions ?? []).filter(({ ownLane }) => ownLane !== undefined);
  return {
    tools: tools.map(({ definition }) => definition as unknown as DeclaredTool),
    marked: new Map(tools.flatMap(({ name: tool, milder }) => (milder ? [[tool, milder] as const] : []))),
  };
}
