import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { loadTokenCounter, type TokenCounter } from "../../base/tokens/tokens.ts";
import { countOf } from "../../base/util/count-of.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import { waits } from "../../core/access/pins.ts";
import { createListings } from "../../faces/mcp/listing.ts";
import type { Gateway, GatewayOptions } from "../../gateway/gateway-api.ts";
import { toolTokens } from "../../gateway/tool-tokens.ts";
import type { ServerSource } from "../../sources/servers/from-config.ts";
import { listSources, openGateway } from "../open/open-gateway.ts";
import { wrapText } from "../terminal/define-command.ts";
import { count, type KeyholeTokens, type ListingClient, type Saving, savingsOf } from "./savings.ts";

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

/** A client with the labels of its servers. */
export interface ClientServers {
  readonly client: ListingClient;
  readonly labels: readonly string[];
}

export interface Measured {
  readonly servers: readonly ServerCost[];
  /** The cost of the servers of each client. Empty as long as no tool can be used. */
  readonly savings: readonly Saving[];
}

/** Stands for the clients of a person who has connected none. */
const ANY_CLIENT: ListingClient = { name: "any", title: "A client", lists: [{ shows: "definitions" }] };
const SAMPLED_TOOLS = 6;

/**
 * Lists servers, from fresh listings where there are some, and counts the tokens of their tools for each client.
 *
 * @param clients Default: one client that has all the servers and lists whole definitions.
 */
export async function measureServers(
  sources: readonly ServerSource[],
  clients: readonly ClientServers[] = [],
  pins?: GatewayOptions["pins"],
): Promise<Measured> {
  const countTokens = await loadTokenCounter();
  const all = sources.map(({ label }) => label);
  const options = (labels: readonly string[]) => ({
    sources: sources.filter(({ label }) => labels.includes(label)),
    ...(pins && { pins }),
  });
  const { failures, tools, waiting, ofAll } = await withGateway(options(all), async (gateway, failures) => {
    const tools = (await gateway.view()).entries.filter(({ kind }) => kind === "tool");
    const waiting = new Set(gateway.pins.list().flatMap((pin) => (waits(pin) ? pin.route : [])));
    return { failures, tools, waiting, ofAll: await keyholeTokens(gateway, countTokens) };
  });
  const byServer = Map.groupBy(tools, ({ origin, domain }) => origin?.source ?? domain);
  const sizes = new Map(
    all.map((label) => [label, (byServer.get(label) ?? []).map((tool) => toolTokens(tool, countTokens))]),
  );
  const servers = sources.map(({ id, label }): ServerCost => {
    const failure = failures.get(id);
    return {
      label,
      tools: sizes.get(label)!.length,
      tokens: sum(sizes.get(label)!.map(({ definitions }) => definitions)),
      waiting: (byServer.get(label) ?? []).filter(({ route }) => waiting.has(route)).length,
      ...(failure !== undefined && { failure: reasonOf(failure) }),
    };
  });
  const savings: Saving[] = [];
  const costs = new Map([[all.join(), ofAll]]);
  for (const { client, labels } of clients.length > 0 ? clients : [{ client: ANY_CLIENT, labels: all }]) {
    const chosen = all.filter((label) => labels.includes(label) && sizes.get(label)!.length > 0);
    const key = chosen.join();
    if (!costs.has(key))
      costs.set(key, await withGateway(options(chosen), (gateway) => keyholeTokens(gateway, countTokens)));
    const keyhole = costs.get(key);
    const ofClient = chosen.flatMap((label) => sizes.get(label)!);
    if (keyhole) savings.push(...savingsOf(client, ofClient, keyhole));
  }
  return { servers, savings };
}

/** Opens a gateway over servers for as long as the work takes. Only servers without a fresh listing are started. */
async function withGateway<T>(
  options: Partial<GatewayOptions>,
  work: (gateway: Gateway, failures: Map<string, unknown>) => Promise<T>,
): Promise<T> {
  const { gateway, close } = openGateway({ options });
  try {
    await gateway.ready();
    return await work(gateway, await listSources(gateway));
  } finally {
    await close();
  }
}

/** Counts what Keyhole shows a client, and asks for a few tools by their descriptions. Undefined if no tool can be used. */
async function keyholeTokens(
  gateway: Gateway,
  countTokens: TokenCounter,
): Promise<KeyholeTokens | undefined> {
  const { listing, view } = await createListings(gateway, {}).for(undefined);
  const usable = view.shown.filter(({ kind, status }) => kind === "tool" && status === undefined);
  if (usable.length === 0) return undefined;
  const shown = listing.tools.map(({ name, description, inputSchema }) =>
    countTokens(JSON.stringify({ name, description, inputSchema })),
  );
  const words = new Set(listing.tools.flatMap(({ description = "" }) => description.split(/[^\w.$-]+/)));
  const named = usable.filter(({ op }) => words.has(op.slice(op.indexOf(".") + 1)));
  const step = Math.ceil(usable.length / SAMPLED_TOOLS);
  const answers = await Promise.all(
    usable
      .filter((_, index) => index % step === 0)
      .map(async (tool) =>
        countTokens((await gateway.ask({ query: toSummary(tool.description) || tool.name })).text),
      ),
  );
  return {
    menu: sum(shown) + countTokens(listing.instructions),
    answer: Math.round(sum(answers) / answers.length),
    named: named.length / usable.length,
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** The servers with their tools and tokens in one sentence, and a line for each that could not be listed. */
export function costSentence(servers: readonly ServerCost[], columns: number): string[] {
  const listed = servers.filter(({ failure }) => failure === undefined);
  const total = (field: "tools" | "tokens") => sum(listed.map((server) => server[field]));
  const each = listed.map(({ label, tools, tokens }) => `${label} ${tools} (${count(tokens)})`);
  const sentence = `${countOf(total("tools"), "tool")}, ${count(total("tokens"))} tokens: ${each.join(", ")}.`;
  const failed = servers.filter(({ failure }) => failure !== undefined);
  return [
    ...(listed.length > 0 ? wrapText(toVisibleLine(sentence), columns - 1) : []),
    ...failed.map(({ label, failure }) => toVisibleLine(`${label} could not be listed: ${failure}`)),
  ];
}
