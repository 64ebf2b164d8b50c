import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { told } from "../../../test/scripted-agent.ts";
import type { AgentEvent } from "../loop/agent-event.ts";
import { MODEL_FACTS_DATE } from "../models/providers/model-facts.ts";
import { ChatCosts } from "./chat-facts.ts";
import { printEvents } from "./print-events.ts";

const end = (
  model: string,
  usage: { input: number; output: number; cached: number; cacheWritten?: number },
) => told({ type: "llm-end", step: 1, text: "", finish: "stop", model, usage });

test("/cost adds up the provider's own counts, with reads and writes of its cache, by dated prices", () => {
  const costs = new ChatCosts();
  expect(costs.dollars).toBeUndefined();
  costs.note(end("claude-sonnet-5-5", { input: 10_000, output: 1_000, cached: 0, cacheWritten: 8_000 }));
  costs.note(end("claude-sonnet-5-5-20260928", { input: 12_000, output: 500, cached: 8_000 }));
  // 2,000 plain, 8,000 written; 4,000 plain, 8,000 read; 1,500 out.
  const dollars = (2_000 * 2 + 8_000 * 2.5 + 4_000 * 2 + 8_000 * 0.1 + 1_500 * 10) / 1e6;
  expect(costs.dollars).toBeCloseTo(dollars, 10);
  expect(costs.lastTokens).toBe(12_500);
  expect(costs.facts()).toEqual([
    { name: "requests", text: "2" },
    { name: "input", text: "22,000 tokens: 8,000 read from the provider's cache, 8,000 written to it" },
    { name: "output", text: "1,500 tokens" },
    { name: "cost", text: `$${dollars.toFixed(4)}, by the list prices of ${MODEL_FACTS_DATE}` },
  ]);
});

test("sub-agents and summaries cost too, and do not change the context", () => {
  const costs = new ChatCosts();
  costs.note(end("claude-sonnet-5-5", { input: 1_000, output: 0, cached: 0 }));
  const usage = { input: 1_000_000, output: 0, cached: 0 };
  costs.note(told({ type: "llm-aside", by: "sub-agent", model: "claude-sonnet-5-5", usage }));
  expect(costs.dollars).toBeCloseTo(2.002, 10);
  expect(costs.lastTokens).toBe(1_000);
  expect(costs.facts()[0]).toEqual({ name: "requests", text: "2" });
});

test("a model without a price is named", () => {
  const costs = new ChatCosts();
  costs.note(end("our-own", { input: 10, output: 1, cached: 0 }));
  expect(costs.dollars).toBeUndefined();
  expect(costs.facts().at(-1)).toEqual({
    name: "no price",
    text: `our-own is not in the list of ${MODEL_FACTS_DATE}; the cost leaves it out`,
  });
});

test("JSON of a run has its cost where the price of the model is known", async () => {
  const span = { traceId: "t", spanId: "s" };
  const usage = { input: 1_000_000, output: 0, cached: 0 };
  async function* events(model: string): AsyncGenerator<AgentEvent> {
    yield { type: "llm-end", step: 1, text: "", usage, finish: "stop", model, span };
    yield { type: "agent-end", outcome: "answered", text: "", usage, steps: 1, span };
  }
  const printed = async (model: string) => {
    const out = new PassThrough();
    await printEvents(events(model), "json", { out, err: new PassThrough() });
    return JSON.parse(String(out.read()));
  };
  expect((await printed("gpt-5")).cost).toBeCloseTo(1.25);
  expect(await printed("unknown")).not.toHaveProperty("cost");
});
