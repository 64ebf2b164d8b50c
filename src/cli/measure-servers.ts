import { createGateway } from "../gateway.ts";
import type { GatewayOptions } from "../gateway-api.ts";
import type { McpSource } from "../sources/mcp/mcp-source.ts";
import { loadTokenCounter } from "../util/tokens.ts";
import { listServers } from "./list-servers.ts";

/** The cost of one server in every request of a client that lists its tools. */
export interface ServerCost {
  readonly label: string;
  readonly tools: number;
  readonly tokens: number;
  /** Tools that a person has not approved yet. */
  readonly waiting: number;
  /** Why the server could not be listed. The text comes from outside. */
  readonly failure?: string;
}

export interface Measured {
  readonly servers: readonly ServerCost[];
  /** The tokens of all tools, and those of Keyhole's tools in their place. */
  readonly before: number;
  readonly after: number;
}

/** Lists servers, from fresh listings where there are some, and counts the tokens of their tools. */
export async function measureServers(
  sources: readonly McpSource[],
  pins?: GatewayOptions["pins"],
): Promise<Measured> {
  const gateway = createGateway({ domains: [], sources, learning: false, ...(pins && { pins }) });
  try {
    await gateway.ready();
    const failures = await listServers(gateway);
    const countTokens = await loadTokenCounter();
    const { entries } = await gateway.view();
    const servers = sources.map(({ id }): ServerCost => {
      const tools = entries.filter(({ kind, origin }) => kind === "tool" && `mcp:${origin?.source}` === id);
      const tokens = tools.map(({ origin }) => {
        const { name, description, inputSchema } = origin?.definition ?? {};
        return countTokens(JSON.stringify({ name, description, inputSchema }));
      });
      const failure = failures.get(id);
      return {
        label: id.slice("mcp:".length),
        tools: tools.length,
        tokens: sum(tokens),
        waiting: tools.filter(({ status }) => status?.state === "quarantined").length,
        ...(failure !== undefined && { failure }),
      };
    });
    const menu = (await gateway.menu()).map((tool) => countTokens(JSON.stringify(tool)));
    return { servers, before: sum(servers.map(({ tokens }) => tokens)), after: sum(menu) };
  } finally {
    await gateway.close();
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
