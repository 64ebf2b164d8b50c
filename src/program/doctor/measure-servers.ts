import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { loadTokenCounter, type TokenCounter } from "../../base/tokens/tokens.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Entry } from "../../core/nouns/entry.ts";
import type { GatewayOptions } from "../../gateway/gateway-api.ts";
import type { McpSource } from "../../sources/mcp/mcp-source.ts";
import { listSources, openGateway } from "../open/open-gateway.ts";

const BAR_WIDTH = 40;

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
  const { gateway, close } = openGateway({ options: { sources, ...(pins && { pins }) } });
  try {
    await gateway.ready();
    const failures = await listSources(gateway);
    const countTokens = await loadTokenCounter();
    const { entries } = await gateway.view();
    const servers = sources.map(({ id, label }): ServerCost => {
      const tools = entries.filter(({ kind, origin }) => kind === "tool" && origin?.source === label);
      const failure = failures.get(id);
      return {
        label,
        tools: tools.length,
        tokens: sum(tools.map((tool) => definitionTokens(tool, countTokens))),
        waiting: tools.filter(({ status }) => status?.state === "quarantined").length,
        ...(failure !== undefined && { failure: reasonOf(failure) }),
      };
    });
    const menu = (await gateway.menu()).map((tool) => countTokens(JSON.stringify(tool)));
    return { servers, before: sum(servers.map(({ tokens }) => tokens)), after: sum(menu) };
  } finally {
    await close();
  }
}

/** The tokens of a definition in the list of a client. */
export function definitionTokens(entry: Entry | undefined, countTokens: TokenCounter): number {
  const { name, description, inputSchema } = entry?.origin?.definition ?? {};
  return countTokens(JSON.stringify({ name, description, inputSchema }));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** A line for each server, with its tools and tokens. */
export function costLines(servers: readonly ServerCost[]): string[] {
  const width = Math.max(...servers.map(({ label }) => label.length), 6);
  return servers.map(({ label, tools, tokens, failure }) => {
    const cost = `${count(tools).padStart(5)} ${tools === 1 ? "tool " : "tools"} ${count(tokens).padStart(8)} tokens`;
    const said = failure === undefined ? cost : `not listed: ${failure}`;
    return toVisibleLine(`  ${label.padEnd(width)}  ${said}`.trimEnd());
  });
}

/** Two bars: the tokens of all tools, and those of Keyhole's own. None if no server was listed. */
export function savingLines({ before, after }: Pick<Measured, "before" | "after">): string[] {
  if (before === 0) return [];
  const most = Math.max(before, after, 1);
  const bar = (tokens: number) =>
    "█".repeat(Math.max(1, Math.round((tokens / most) * BAR_WIDTH))).padEnd(BAR_WIDTH);
  return [
    `  before  ${bar(before)}  ${count(before)} tokens in every request`,
    `  after   ${bar(after)}  ${count(after)} tokens`,
  ];
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}
