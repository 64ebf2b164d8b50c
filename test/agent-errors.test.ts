import { createOpenAI } from "@ai-sdk/openai";
import { createGateway } from "keyhole";
import { type AgentEvent, createAgent, run } from "keyhole/agent";
import { createLLMClient } from "keyhole/models";
import { type ScriptedReply, serveScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { createShop } from "./shop.ts";

const KEY = `sk-${"a1b2c3d4e5".repeat(4)}`;

async function open(replies: readonly ScriptedReply[], layer: "ours" | "the SDK's", maxRetries = 0) {
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
  return Object.assign(createAgent({ gateway, model, maxRetries }), { requests: server.requests });
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

test("a stream that breaks after its first words is repeated from the last whole step", async () => {
  const calls = [{ name: "tool_search", args: { query: "order" } }];
  const agent = await open(
    [{ calls }, { text: "It is half way to", breakAfter: 3 }, { text: "It was sent." }],
    "ours",
    1,
  );
  const session = await agent.openSession();
  const events = await Array.fromAsync(run(agent, "hello", { session }));
  expect(events.at(-1)).toMatchObject({ outcome: "answered", text: "It was sent.", steps: 2 });
  expect(events.filter(({ type }) => type === "llm-retry")).toMatchObject([
    { attempt: 1, reason: expect.stringContaining("broke off") },
  ]);
  expect(agent.requests[2]?.messages).toEqual(agent.requests[1]?.messages);
  expect(JSON.stringify(session.messages)).not.toContain("half way");
});

test("an answer that keeps breaking off ends the run after its repetitions", async () => {
  const broken = { text: "It is half way to", breakAfter: 3 };
  const agent = await open([broken, broken], "ours", 1);
  expect(await endOf(run(agent, "hello"))).toMatchObject({ outcome: "failed" });
  expect(agent.requests).toHaveLength(2);
});

async function endOf(events: AsyncIterable<AgentEvent>) {
  let last: AgentEvent | undefined;
  for await (const event of events) last = event;
  return last;
}
