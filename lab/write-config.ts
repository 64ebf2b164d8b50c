import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Scenario } from "./scenarios.ts";

/**
 * Writes the config that Keyhole serves: JSON as clients have it, or a module where a tool must be confirmed by a
 * person, which JSON cannot say. Returns the arguments that serve it.
 */
export async function writeConfig(
  folder: string,
  dist: string,
  { servers, confirms }: Scenario,
): Promise<string[]> {
  const json = JSON.stringify({ mcpServers: servers });
  const path = join(folder, confirms ? "keyhole.config.mjs" : "servers.json");
  await writeFile(path, confirms ? moduleText(dist, json, closedFile(folder)) : json);
  return ["--config", path, ...(confirms ? [] : ["--trust"])];
}

/** A line for each run of the tool that must be confirmed. */
export function closedFile(folder: string): string {
  return join(folder, "closed.txt");
}

function moduleText(dist: string, json: string, closed: string): string {
  return `
import { appendFileSync } from "node:fs";
import { defineDomain, defineTool } from ${JSON.stringify(join(dist, "index.js"))};
import { fromMcpConfig } from ${JSON.stringify(join(dist, "sources/index.js"))};

const closeBooks = defineTool({
  name: "close_books",
  op: "books.close_books",
  description: "Close the books of a quarter for ever.",
  inputSchema: { type: "object", properties: { quarter: { type: "string" } }, required: ["quarter"] },
  requiresConfirmation: true,
  execute: ({ quarter }) => {
    appendFileSync(${JSON.stringify(closed)}, quarter + "\\n");
    return \`The books of \${quarter} are closed.\`;
  },
});
export const domains = [defineDomain({ name: "books", description: "The books of the company.", tools: [closeBooks] })];
export const sources = fromMcpConfig(${JSON.stringify(json)}, { trusted: true });
`;
}
