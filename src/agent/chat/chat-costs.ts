import type { AgentEvent } from "../loop/agent-event.ts";
import { costOf, MODEL_FACTS_DATE } from "../models/providers/model-facts.ts";
import type { Fact } from "../tui/chat-agent.ts";

/** Tokens and cost of a conversation, by the provider's own count of each request. */
export interface ChatCosts {
  note(event: AgentEvent): void;
  /** Tokens of the last request with its answer. */
  readonly lastTokens: number;
  /** US dollars so far; undefined if no model in use has a known price. */
  readonly dollars: number | undefined;
  facts(): Fact[];
  clear(): void;
}

export function createChatCosts(): ChatCosts {
  const use = { requests: 0, input: 0, cached: 0, cacheWritten: 0, output: 0 };
  let lastTokens = 0;
  let dollars: number | undefined;
  const unpriced = new Set<string>();
  return {
    note: (event) => {
      if (event.type !== "llm-end" && event.type !== "llm-aside") return;
      const { input, cached, output, cacheWritten = 0 } = event.usage;
      // The requests of sub-agents and summaries cost as well, and are no part of the context.
      if (event.type === "llm-end") lastTokens = input + output;
      use.requests += 1;
      use.input += input;
      use.cached += cached;
      use.cacheWritten += cacheWritten;
      use.output += output;
      const spent = costOf(event.model ?? "", event.usage);
      if (spent === undefined) return void unpriced.add(event.model ?? "the model");
      dollars = (dollars ?? 0) + spent;
    },
    get lastTokens() {
      return lastTokens;
    },
    get dollars() {
      return dollars;
    },
    facts: () => [
      { name: "requests", text: count(use.requests) },
      {
        name: "input",
        text: `${count(use.input)} tokens: ${count(use.cached)} read from the provider's cache, ${count(use.cacheWritten)} written to it`,
      },
      { name: "output", text: `${count(use.output)} tokens` },
      ...(dollars === undefined
        ? []
        : [{ name: "cost", text: `$${dollars.toFixed(4)}, by the list prices of ${MODEL_FACTS_DATE}` }]),
      ...[...unpriced].map((name) => ({
        name: "no price",
        text: `${name} is not in the list of ${MODEL_FACTS_DATE}; the cost leaves it out`,
      })),
    ],
    clear: () => {
      Object.assign(use, { requests: 0, input: 0, cached: 0, cacheWritten: 0, output: 0 });
      lastTokens = 0;
      dollars = undefined;
      unpriced.clear();
    },
  };
}

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}
