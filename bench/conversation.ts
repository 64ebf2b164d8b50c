// A conversation of 30 turns with the agent, over eight MCP servers (four programs of the MCP project, started as
// eight servers) and a workspace: the tokens that its requests send, and how many of them the provider has cached.
// A provider caches a request up to the first part that differs from the request before: tools, instructions, messages.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { generateText, isStepCount, type ModelMessage } from "ai";
import { createGateway, type Gateway, loadTokenCounter, type TokenCounter } from "keyhole";
import { createAgent, createPermissions, run, workspaceDomain } from "keyhole/agent";
import { toAISDKTools } from "keyhole/ai-sdk";
import { fromMcpConfig } from "keyhole/sources";
import { createScriptedModel, type ScriptedReply, type ScriptedRequest } from "keyhole/testing";
import { corePrompt } from "../src/agent/chat/system-prompt.ts";
import type { View } from "../src/core/access/view.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { TURNS, type WantedCall } from "./conversation-script.ts";

/** The price of a cached token as a share of the price of a new one, as most providers have it. */
const CACHE_READ = 0.1;
const PRINCIPAL = { id: "me", scopes: [], allowWrite: true };
const FACTS = {
  git: "on branch main at the start",
  folder: "/project",
  system: "linux (x64)",
  date: "Monday, 2026-11-16",
};

/**
 * Providers cache no shorter prefix: 1,024 tokens at OpenAI and for most models of Anthropic, 2,048 and 4,096 for
 * others of Anthropic.
 */
const LEAST_CACHED = [1_024, 2_048, 4_096] as const;
/** Anthropic and OpenAI charge a quarter more for tokens that go into the cache. */
const CACHE_WRITE = 1.25;

/**
 * `all-listed`: the same agent with every tool in every request. `cut-by-messages`: without hands, cut at 20 messages.
 * `keyhole-fixed`: found tools are called by the gateway's own tools, so that the list never grows.
 */
const SYSTEMS = ["all-listed", "cut-by-messages", "keyhole", "keyhole-fixed"] as const;
type System = (typeof SYSTEMS)[number];

interface Sent {
  readonly requests: number;
  readonly sent: number;
  readonly cached: number;
  /** By the shortest prefix that is cached, in the order of {@link LEAST_CACHED}. */
  readonly priced: readonly number[];
}

export const benchmark: Benchmark = async () => {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-conversation-"));
  for (const name of ["notes.md", "plan.md", "orders.csv"])
    writeFileSync(join(folder, name), `# ${name}\n1\n2\n`);
  try {
    const countTokens = await loadTokenCounter();
    const sent = new Map<System, Sent>();
    for (const system of SYSTEMS) sent.set(system, await converse(system, folder, countTokens));
    const all = sent.get("all-listed")!;
    return SYSTEMS.flatMap((system) => {
      const figures = sent.get(system)!;
      const row = (metric: string, value: number, unit: string): Row => ({
        bench: "conversation",
        case: `${TURNS.length}-turns-8-servers`,
        system,
        metric,
        value,
        unit,
      });
      return [
        row("requests", figures.requests, "requests"),
        row("sent", figures.sent, "tokens"),
        row("cached", figures.cached, "tokens"),
        row("uncached", figures.sent - figures.cached, "tokens"),
        row("sent_saved", 1 - figures.sent / all.sent, "share"),
        ...LEAST_CACHED.map((least, at) =>
          row(`priced_saved_${least}`, 1 - figures.priced[at]! / all.priced[at]!, "share"),
        ),
      ];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
};

async function converse(system: System, folder: string, countTokens: TokenCounter): Promise<Sent> {
  const gateway = openGateway(folder);
  await gateway.ready();
  await gateway.sources.refresh();
  const view = await gateway.view();
  let turn = TURNS[0]!;
  let done = 0;
  const model = createScriptedModel((request) => {
    const wanted = turn.calls[done];
    if (!wanted) return { text: turn.answer };
    const reply = system === "keyhole-fixed" ? toFixedReply(wanted, request, view) : toReply(wanted, request);
    if (!reply.calls?.some(({ name }) => name === "tool_search" || name === "ask")) done += 1;
    return reply;
  });
  const play = await playerOf(system, gateway, model);
  for (const next of TURNS) {
    turn = next;
    done = 0;
    await play(next.prompt);
  }
  const requests = model.requests.map(({ body }) => toParts(body as LanguageModelV4CallOptions, countTokens));
  await gateway.close();
  return countSent(requests);
}

async function playerOf(system: System, gateway: Gateway, model: ReturnType<typeof createScriptedModel>) {
  if (system === "cut-by-messages") {
    const history: ModelMessage[] = [];
    let session: string | undefined;
    return async (prompt: string) => {
      const { session: opened, ...given } = await toAISDKTools(gateway, {
        approvals: "gateway",
        ...(session && { session }),
      });
      session = opened;
      history.push({ role: "user", content: prompt });
      const instructions = `${corePrompt(FACTS)}\n\n${given.instructions}`;
      const options = { ...given, instructions, model, messages: history, stopWhen: isStepCount(20) };
      history.push(...(await generateText(options)).responseMessages);
    };
  }
  const domains = [...(await gateway.view()).domains.keys()];
  const agent = createAgent({
    gateway,
    model,
    instructions: corePrompt(FACTS),
    contextWindow: 1_000_000,
    ...(system === "all-listed" && { hands: domains }),
    ...(system === "keyhole-fixed" && { mode: "fixed" as const }),
  });
  const session = await agent.openSession();
  return async (prompt: string) => {
    for await (const event of run(agent, prompt, { session })) {
      if (event.type === "agent-end" && event.outcome !== "answered")
        throw new Error(`${event.outcome}: ${prompt}`);
    }
  };
}

/** Calls the tool by the name that it has in the request, or searches for it first. */
function toReply(
  { server, tool, args, find }: WantedCall,
  { tools, messages }: ScriptedRequest,
): ScriptedReply {
  const name = tools.find((each) => each === tool || each.startsWith(`${server}_${tool}`));
  if (name !== undefined) return { calls: [{ name, args }] };
  // After a search in vain the tool is named exactly.
  const isSecond = messages.at(-1)?.role === "tool" && messages.at(-2)?.calls.includes("tool_search");
  return { calls: [{ name: "tool_search", args: { query: isSecond ? `${server}.${tool}` : find } }] };
}

/** Calls the tool by its op once an answer has named it, or asks for it first. */
function toFixedReply(
  { server, tool, args, find }: WantedCall,
  { tools, messages }: ScriptedRequest,
  view: View,
): ScriptedReply {
  if (tools.includes(tool)) return { calls: [{ name: tool, args }] };
  const entry = view.find(`${server}.${tool}`);
  if (!entry) throw new Error(`${server}.${tool} not found`);
  const { op, route } = entry;
  const isKnown = messages.some(
    ({ role, text }) => role === "tool" && [op, route].some((at) => text.includes(at)),
  );
  const steps = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
  const asks = steps.filter(({ calls }) => calls.includes("ask")).length;
  if (!isKnown && asks > 1) throw new Error(`two searches do not find ${op}`);
  // After a search in vain the tool is named exactly.
  if (!isKnown) return { calls: [{ name: "ask", args: { query: asks === 0 ? find : op } }] };
  const reads = entry.lane === "read";
  const input = reads ? { routes: [{ route: op, params: args }] } : { op, args };
  return { calls: [{ name: reads ? "get" : "exec", args: input }] };
}

function openGateway(folder: string): Gateway {
  const program = (name: string, ...args: string[]) => {
    const path = fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/package.json`));
    return { command: process.execPath, args: [join(dirname(path), "dist", "index.js"), ...args] };
  };
  const memory = (name: string) => ({
    ...program("server-memory"),
    env: { MEMORY_FILE_PATH: join(folder, `${name}.jsonl`) },
  });
  const mcpServers = {
    docs: program("server-filesystem", folder),
    orders: program("server-filesystem", folder),
    archive: program("server-filesystem", folder),
    team: memory("team"),
    customers: memory("customers"),
    decisions: memory("decisions"),
    everything: program("server-everything"),
    thinking: program("server-sequential-thinking"),
  };
  return createGateway({
    domains: [workspaceDomain({ permissions: createPermissions({ root: folder }) })],
    sources: fromMcpConfig({ mcpServers }, { trusted: true }),
    principal: PRINCIPAL,
    learning: false,
  });
}

interface Part {
  readonly text: string;
  readonly tokens: number;
}

/** The parts of a request in the order in which providers cache them. */
function toParts({ tools = [], prompt }: LanguageModelV4CallOptions, countTokens: TokenCounter): Part[] {
  const system = prompt.filter(({ role }) => role === "system");
  const rest = prompt.filter(({ role }) => role !== "system");
  return [...tools, ...system, ...rest].map((part) => {
    const { providerOptions: _, ...plain } = part as { providerOptions?: unknown };
    const text = JSON.stringify(plain);
    return { text, tokens: countTokens(text) };
  });
}

function countSent(requests: readonly (readonly Part[])[]): Sent {
  const priced = LEAST_CACHED.map(() => 0);
  let [sent, cached] = [0, 0];
  for (const [index, parts] of requests.entries()) {
    const before = requests[index - 1] ?? [];
    const changed = parts.findIndex(({ text }, at) => before[at]?.text !== text);
    const sum = (some: readonly Part[]) => some.reduce((total, { tokens }) => total + tokens, 0);
    const same = sum(parts.slice(0, changed === -1 ? parts.length : changed));
    const all = sum(parts);
    sent += all;
    cached += same < LEAST_CACHED[0] ? 0 : same;
    for (const [at, least] of LEAST_CACHED.entries()) {
      const read = same < least ? 0 : same;
      priced[at]! += read * CACHE_READ + (all - read) * (all < least ? 1 : CACHE_WRITE);
    }
  }
  return { requests: requests.length, sent, cached, priced };
}
