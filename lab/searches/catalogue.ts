import { existsSync } from "node:fs";
import { join } from "node:path";
import { readSearchSet } from "../../bench/search-sets.ts";
import { readJsonLines, type SetTool } from "../../bench/tool-sets.ts";

/** The queries, whose tools are in every catalogue. Agents sent them to a search. */
const QUERY_SET = "livemcp-agent";
/** Tools of other servers, for the largest catalogue. */
const FILLER_SET = "mcp-registries";
const QUERIES = 20;

export const CATALOGUE_SIZES = [50, 500, 3_000] as const;
export type CatalogueSize = (typeof CATALOGUE_SIZES)[number];

/** A search, and the tools that meet it: one for each need. */
export interface LabQuery {
  readonly query: string;
  readonly gold: readonly SetTool[];
}

export interface Catalogue {
  readonly tools: readonly SetTool[];
  readonly queries: readonly LabQuery[];
}

/** Why a directory has not the public sets that the searches need, or undefined. */
export function whyNoSets(data: string): string | undefined {
  const missing = [QUERY_SET, FILLER_SET].filter((set) => !existsSync(join(data, set, "tools.jsonl")));
  return missing.length === 0 ? undefined : `${data} has no set ${missing.join(" and no set ")}`;
}

/**
 * The tools that the queries need, and others until there are so many: first those of the same set, then those of
 * servers that are not in it.
 */
export function readCatalogue(data: string, size: CatalogueSize): Catalogue {
  const { tools, questions } = readSearchSet(join(data, QUERY_SET));
  const own = tools.filter(isNameable);
  const byId = new Map(own.map((tool) => [tool.id, tool]));
  const usable = questions.filter(({ gold }) => gold.every((id) => byId.has(id)));
  const queries = Array.from({ length: QUERIES }, (_, at) => {
    const { query, gold } = usable[Math.floor((at * usable.length) / QUERIES)]!;
    return { query, gold: gold.map((id) => byId.get(id)!) };
  });
  const servers = new Set(own.map(({ server }) => server));
  const fillers = readJsonLines<SetTool>(join(data, FILLER_SET, "tools.jsonl"));
  const others = fillers.filter((tool) => isNameable(tool) && !servers.has(tool.server));
  const all = new Map<string, SetTool>();
  for (const tool of [...queries.flatMap(({ gold }) => gold), ...spread(own), ...others]) {
    if (all.size < size) all.set(keyOf(tool), tool);
  }
  return { tools: [...all.values()], queries };
}

/** A tool in the letters that every client's name for it has. */
export function keyOf({ server = "", name }: Pick<SetTool, "server" | "name">): string {
  return letters(server + name);
}

export function letters(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Clients and models take names of 64 letters, the prefix included. */
function isNameable({ server = "", name }: SetTool): boolean {
  return /^[a-z][\w-]*$/i.test(server) && /^[\w-]+$/.test(name) && server.length + name.length <= 50;
}

/** The first tool of each server, then the second of each. */
function spread(tools: readonly SetTool[]): SetTool[] {
  const groups = [...Map.groupBy(tools, ({ server }) => server).values()];
  const longest = Math.max(...groups.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => groups.flatMap((group) => group[at] ?? [])).flat();
}
