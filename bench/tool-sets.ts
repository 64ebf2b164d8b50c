import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type DomainDefinition, defineTool, type JsonSchema } from "keyhole";

export interface SetTool {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly server?: string;
  readonly server_description?: string;
  readonly input_schema?: JsonSchema;
  /** The body of a skill. */
  readonly content?: string;
}

/** Names of the sets in a directory: the folders that have a `tools.jsonl`. */
export function listSets(data: string | undefined): string[] {
  if (!data || !existsSync(data) || !statSync(data).isDirectory()) {
    console.error(
      "Give --data DIR: a directory of tool-search sets, each a folder with tools.jsonl and queries.jsonl.",
    );
    process.exit(2);
  }
  return readdirSync(data)
    .filter((name) => existsSync(join(data, name, "tools.jsonl")))
    .sort();
}

export function readJsonLines<T>(path: string): T[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as T);
}

/** The tools of a set as domains, one for each server. `routes` maps a route to the tool's id. */
export function toDomains(tools: readonly SetTool[]): {
  domains: DomainDefinition[];
  routes: Map<string, string>;
} {
  const names = new Map<string, string>();
  const routes = new Map<string, string>();
  const domains = [...Map.groupBy(tools, (tool) => tool.server ?? "tools")].map(([server, group]) => {
    const domain = unique(domainName(server), new Set(names.values()));
    names.set(server, domain);
    const taken = new Set<string>();
    return {
      name: domain,
      description: group[0]?.server_description || server,
      tools: group.map((tool) => {
        const path = unique(pathName(tool.name), taken);
        taken.add(path);
        const route = `${domain}://tools/${path}`;
        routes.set(route, tool.id);
        return defineTool({
          route,
          name: tool.name,
          description: tool.description || tool.name,
          inputSchema: tool.input_schema ?? { type: "object", properties: {} },
          execute: () => "",
        });
      }),
    };
  });
  return { domains, routes };
}

/** A label that a user might give a server. */
function domainName(server: string): string {
  const plain = server.replaceAll(/[^a-z0-9_-]+/gi, "_").replaceAll(/^[^a-z]+|_+$/gi, "");
  return plain || "server";
}

function pathName(tool: string): string {
  return tool.replaceAll(/[^\p{L}\p{N}_-]+/gu, "_") || "tool";
}

function unique(name: string, taken: ReadonlySet<string>): string {
  for (let suffix = 1; ; suffix++) {
    const candidate = suffix === 1 ? name : `${name}_${suffix}`;
    if (!taken.has(candidate)) return candidate;
  }
}
