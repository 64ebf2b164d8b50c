import { createOpenAI } from "@ai-sdk/openai";
import { createGateway } from "keyhole";
import { type AgentEvent, createAgent, run } from "keyhole/agent";
import { createLLMClient } from "keyhole/models";
import { type ScriptedReply, serveScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { createShop } from "./shop.ts";

const KEY = `sk-${"a1b2c3d4e5".repeat(4)}`;

async function open(replies: readonly ScriptedReply[], layer: "ours" | "the SDK's") {
  const server = await serveScriptedModel((_, turn) => replies[turn] ?? { text: "Fine." });
  const gateway = createGateway({ domains: createShop().domains });
  onTestFinished(async () => {
    await gateway.close();
    await server.close();
  });
  const baseUrl = `${server.url}/v1`;
  const client = createLLMClient({
    config: { providers: { openai: { apiKey: KEY, baseUrl } }, retry: { enabled: false } },
  });
  const sdk = createOpenAI({ baseURL: baseUrl, apiKey: KEY }).chat("scripted");
  const model = layer === "ours" ? () => client.languageModel() : sdk;
  return createAgent({ gateway, model, maxRetries: 0 });
}

const CASES: readonly (readonly [string, ScriptedReply])[] = [
  ["AUTHENTICATION_ERROR", { error: { status: 401, message: `no such key ${KEY}` } }],
  ["MODEL_NOT_FOUND", { error: { status: 404, message: "no such model" } }],
  ["RATE_LIMITED", { error: { status: 429, message: "slow down" } }],
];

test.each(
  CASES.flatMap(([code, reply]) => [[code, "ours", reply] as const, [code, "the SDK's", reply] as const]),
)("%s ends the run with %s models, and the conversation continues afterwards", async (code, layer, reply) => {
  const agent = await open([reply], layer);
  const session = await agent.openSession();
  const failed = await endOf(run(agent, "hello", { session }));
  expect(failed).toMatchObject({ outcome: "failed", error: { code, next: expect.stringMatching(/\.$/) } });
  expect(JSON.stringify(failed)).not.toContain(KEY);
  expect(await endOf(run(agent, "again", { session }))).toMatchObject({
    outcome: "answered",
    text: "Fine.",
  });
});

test("a broken stream keeps its text and leaves no call without a result", async () => {
  const calls = [{ name: "tool_search", args: { query: "order" } }];
  const agent = await open([{ text: "I will look that up", calls, breakAfter: 3 }], "ours");
  const session = await agent.openSession();
  const end = await endOf(run(agent, "hello", { session }));
  expect(end).toMatchObject({ outcome: "failed", text: expect.stringMatching(/^I will/) });
  const parts = session.messages.flatMap(({ content }): readonly { type: string }[] =>
    typeof content === "string" ? [] : content,
  );
  expect(parts.filter(({ type }) => type === "tool-call")).toEqual([]);
  expect(await endOf(run(agent, "again", { session }))).toMatchObject({ outcome: "answered" });
});

async function endOf(events: AsyncIterable<AgentEvent>) {
  let last: AgentEvent | undefined;
  for await (const event of events) last = event;
  return last;
}
