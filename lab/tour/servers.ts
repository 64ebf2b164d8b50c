import { join, resolve } from "node:path";
import { installTool } from "../../scripts/tool.ts";
import type { Program } from "../../src/program/clients/client.ts";

/** Servers of npm that people use, by the names that they have in a client's config. */
export type TourServers = Readonly<Record<string, TourServer>>;

export interface TourServer extends Program {
  readonly env?: Readonly<Record<string, string>>;
}

export const SIZES = [4, 8] as const;
export type Size = (typeof SIZES)[number];

/** The programs of the first four are of the project's own install, those of the others of `tools/servers`. */
const FOUR = {
  filesystem: "mcp-server-filesystem",
  memory: "mcp-server-memory",
  everything: "mcp-server-everything",
  "sequential-thinking": "mcp-server-sequential-thinking",
};
const FOUR_MORE = {
  github: "mcp-server-github",
  notion: "notion-mcp-server",
  playwright: "playwright-mcp",
  "chrome-devtools": "chrome-devtools-mcp",
};
const TAP = resolve(import.meta.dirname, "../tap.ts");

/** The servers, each behind a tap that records into `logs`. */
export function tourServers(size: Size, project: string, logs: string): TourServers {
  const own = resolve(import.meta.dirname, "../../node_modules/.bin");
  const more = size === 8 ? join(installTool("servers"), "node_modules/.bin") : "";
  const programs = [
    ...Object.entries(FOUR).map(([name, program]) => [name, join(own, program)] as const),
    ...(size === 8 ? Object.entries(FOUR_MORE).map(([name, bin]) => [name, join(more, bin)] as const) : []),
  ];
  return Object.fromEntries(
    programs.map(([name, program]) => {
      const args = [TAP, join(logs, `${name}.jsonl`), process.execPath, program];
      const env = { MEMORY_FILE_PATH: join(logs, "graph.json") };
      return [
        name,
        {
          command: process.execPath,
          args: name === "filesystem" ? [...args, project] : args,
          ...(name === "memory" && { env }),
        },
      ];
    }),
  );
}
