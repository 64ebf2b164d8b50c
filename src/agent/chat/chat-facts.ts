import type { AgentEvent } from "../loop/agent-event.ts";
import { costOf, MODEL_FACTS_DATE } from "../models/providers/model-facts.ts";
import type { Fact, Topic } from "../tui/chat-agent.ts";
import type { ChatParts } from "./chat-parts.ts";
import { agentFacts } from "./named-agents.ts";

export async function chatFacts(
  topic: Topic,
  { agent, gateway, helpers, loaded: { settings } }: ChatParts,
  costs: ChatCosts,
): Promise<readonly Fact[]> {
  switch (topic) {
    case "tools": {
      const { entries } = await gateway.view();
      const tools = entries.filter(({ kind, visibility }) => kind === "tool" && visibility !== "hidden");
      return tools.map(({ op, route, description }) => ({ name: op ?? route, text: description }));
    }
    case "skills":
      return (agent.options.skills ?? []).map(({ name, description }) => ({ name, text: description }));
    case "agents":
      return agentFacts(helpers);
    case "cost":
      return costs.facts();
    case "permissions":
      return permissionFacts(settings.permissions);
    case "telemetry": {
      const { enabled, endpoint } = settings.telemetry;
      return [{ name: "telemetry", text: enabled ? `on, sent to ${endpoint}` : "off" }];
    }
  }
}

function permissionFacts(permissions: ChatParts["loaded"]["settings"]["permissions"]): Fact[] {
  const facts = (["user", "project"] as const).flatMap((owner) =>
    (["allow", "ask", "deny"] as const).flatMap((verdict) =>
      permissions[owner][verdict].map((rule) => ({
        name: `${verdict} ${rule}`,
        text: `a rule of the ${owner}`,
      })),
    ),
  );
  return [
    ...facts,
    { name: "fs-read", text: "allowed inside the project; sensitive paths ask" },
    { name: "everything else", text: "asks" },
  ];
}

/** Tokens and cost of a conversation, by the provider's own count of each request. */
export class ChatCosts {
  /** Tokens of the last request with its answer. */
  lastTokens = 0;
  /** US dollars so far; undefined if no model in use has a known price. */
  dollars: number | undefined;
  readonly #use = { requests: 0, input: 0, cached: 0, cacheWritten: 0, output: 0 };
  readonly #unpriced = new Set<string>();

  note(event: AgentEvent): void {
    if (event.type !== "llm-end" && event.type !== "llm-aside") return;
    const { input, cached, output, cacheWritten = 0 } = event.usage;
    // The requests of sub-agents and summaries cost as well, and are no part of the context.
    if (event.type === "llm-end") this.lastTokens = input + output;
    this.#use.requests += 1;
    this.#use.input += input;
    this.#use.cached += cached;
    this.#use.cacheWritten += cacheWritten;
    this.#use.output += output;
    const spent = costOf(event.model ?? "", event.usage);
    if (spent === undefined) this.#unpriced.add(event.model ?? "the model");
    else this.dollars = (this.dollars ?? 0) + spent;
  }

  facts(): Fact[] {
    const { requests, input, cached, cacheWritten, output } = this.#use;
    const cache = `${count(cached)} read from the provider's cache, ${count(cacheWritten)} written to it`;
    const cost = `$${this.dollars?.toFixed(4)}, by the list prices of ${MODEL_FACTS_DATE}`;
    return [
      { name: "requests", text: count(requests) },
      { name: "input", text: `${count(input)} tokens: ${cache}` },
      { name: "output", text: `${count(output)} tokens` },
      ...(this.dollars === undefined ? [] : [{ name: "cost", text: cost }]),
      ...[...this.#unpriced].map((name) => ({
        name: "no price",
        text: `${name} is not in the list of ${MODEL_FACTS_DATE}; the cost leaves it out`,
      })),
    ];
  }
}

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}
