// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of prompt files.
// Walks the document of the agent framework: its model layer, callbacks, configuration, sessions and prompts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway, defineDomain, defineTool, loadTokenCounter } from "keyhole";
import { createAgent, run } from "keyhole/agent";
import { createLLMClient, type LLMClientOptions } from "keyhole/models";
import {
  createScriptedModel,
  type ModelScript,
  type ScriptedReply,
  serveScriptedModel,
} from "keyhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { extractTokenUsage } from "../../src/agent/models/model-answer.ts";
import { isRetryableError } from "../../src/agent/models/model-retries.ts";
import { MODEL_ERROR_CODES, mapErrorToCode } from "../../src/agent/models/providers/model-errors.ts";
import { getSupportedProviders, PROVIDERS } from "../../src/agent/models/providers/providers.ts";
import { instructionsOf, openTerminalAgent } from "./terminal-agent.ts";

const countTokens = await loadTokenCounter();
const QUICK = { retry: { baseDelayMs: 1, maxDelayMs: 1 } };

/** The document's `new LLMClient({ config, callbacks })`, with a scripted server as its provider. */
async function openClient(
  script: ModelScript,
  options: Partial<LLMClientOptions> & { idleTimeoutMs?: number } = {},
) {
  const server = await serveScriptedModel(script);
  onTestFinished(() => server.close());
  const { idleTimeoutMs, ...more } = options;
  const anthropic = { apiKey: "k", model: "claude-sonnet-4-5", baseUrl: `${server.url}/v1` };
  const config = { providers: { default: "anthropic", anthropic }, ...(idleTimeoutMs && { idleTimeoutMs }) };
  return { server, client: createLLMClient({ config, ...QUICK, ...more }) };
}

describe("the model layer", () => {
  test("seven providers are supported, with current default models, and the document's where they are still served", () => {
    expect(getSupportedProviders()).toEqual(
      expect.arrayContaining(["openai", "anthropic", "azure", "foundry", "gemini", "github", "local"]),
    );
    const defaults = Object.entries(PROVIDERS).map(([name, { defaultModel }]) => [
      name,
      (defaultModel as undefined | ((config: object) => string | undefined))?.({}),
    ]);
    expect(Object.fromEntries(defaults)).toMatchObject({
      openai: "gpt-6.1-sol",
      anthropic: "claude-sonnet-5-5",
      foundry: "phi-4",
      gemini: "gemini-4-argon",
      github: "gpt-4o-mini",
      local: "llama3.3:latest",
    });
  });

  test("ten error codes, three of them retryable", () => {
    expect(MODEL_ERROR_CODES).toEqual([
      "PROVIDER_NOT_CONFIGURED",
      "PROVIDER_NOT_SUPPORTED",
      "AUTHENTICATION_ERROR",
      "RATE_LIMITED",
      "MODEL_NOT_FOUND",
      "CONTEXT_LENGTH_EXCEEDED",
      "NETWORK_ERROR",
      "TIMEOUT",
      "INVALID_RESPONSE",
      "UNKNOWN",
    ]);
    expect(MODEL_ERROR_CODES.filter(isRetryableError)).toEqual(["RATE_LIMITED", "NETWORK_ERROR", "TIMEOUT"]);
  });

  test.each([
    ["Incorrect api key provided", "AUTHENTICATION_ERROR"],
    ["authentication failed", "AUTHENTICATION_ERROR"],
    ["Unauthorized", "AUTHENTICATION_ERROR"],
    ["rate limit reached", "RATE_LIMITED"],
    ["429 from upstream", "RATE_LIMITED"],
    ["The model gpt-9 was not found", "MODEL_NOT_FOUND"],
    ["maximum context length is 8192", "CONTEXT_LENGTH_EXCEEDED"],
    ["prompt is too long", "CONTEXT_LENGTH_EXCEEDED"],
    ["token limit", "CONTEXT_LENGTH_EXCEEDED"],
    ["timeout", "TIMEOUT"],
    ["request timed out", "TIMEOUT"],
    ["network down", "NETWORK_ERROR"],
    ["connect ECONNREFUSED 127.0.0.1:1", "NETWORK_ERROR"],
    ["fetch failed", "NETWORK_ERROR"],
    ["503 from upstream", "NETWORK_ERROR"],
    ["something else", "UNKNOWN"],
  ])("mapErrorToCode: %s is %s", (message, code) => {
    expect(mapErrorToCode(new Error(message))).toBe(code);
  });

  test.each([
    ["OpenAI", { usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 } }],
    ["Anthropic", { usage: { input_tokens: 8, output_tokens: 2 } }],
    ["generic", { token_usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 } }],
    ["camelCase", { usage: { promptTokens: 8, completionTokens: 2 } }],
  ])("extractTokenUsage reads the %s format", (_, metadata) => {
    expect(extractTokenUsage(metadata)).toEqual({ promptTokens: 8, completionTokens: 2, totalTokens: 10 });
  });

  test("invoke('Hello') answers with content and usage, as the complete flow shows", async () => {
    const { client } = await openClient([{ text: "Hi there!", usage: { input: 8, output: 3 } }]);
    const result = await client.invoke("Hello");
    expect(result).toMatchObject({
      success: true,
      result: {
        content: "Hi there!",
        usage: { promptTokens: 8, completionTokens: 3, totalTokens: 11 },
        finishReason: "stop",
      },
    });
    expect([client.getProviderName(), client.getModelName()]).toEqual(["anthropic", "claude-sonnet-4-5"]);
  });

  test("a rate limit is retried as the provider asks, and the error is told once", async () => {
    const busy: ScriptedReply = {
      error: { status: 429, message: "slow down", headers: { "retry-after": "0" } },
    };
    const told: unknown[] = [];
    const callbacks: LLMClientOptions["callbacks"] = {
      onRetry: ({ attempt, maxRetries, error }) => told.push([attempt, maxRetries, error]),
      onError: (error) => told.push(error),
    };
    const { client } = await openClient([busy, busy, busy, busy], { callbacks });
    expect(await client.invoke("Hi")).toMatchObject({ success: false, error: "RATE_LIMITED" });
    expect(told).toEqual([
      [1, 3, "RATE_LIMITED"],
      [2, 3, "RATE_LIMITED"],
      [3, 3, "RATE_LIMITED"],
      "RATE_LIMITED",
    ]);
  });

  test.each<[string, NonNullable<Parameters<typeof createLLMClient>[0]["config"]>, string]>([
    [
      "foundry without an endpoint",
      { providers: { default: "foundry", foundry: { mode: "cloud" } } },
      "PROVIDER_NOT_CONFIGURED",
    ],
    [
      "gemini on Vertex AI",
      { providers: { default: "gemini", gemini: { useVertexai: true } } },
      "PROVIDER_NOT_CONFIGURED",
    ],
    ["github without a token", { providers: { default: "github" } }, "PROVIDER_NOT_CONFIGURED"],
    [
      "azure without a deployment",
      { providers: { default: "azure", azure: { endpoint: "https://a.example" } } },
      "PROVIDER_NOT_CONFIGURED",
    ],
    [
      "local with no server",
      { providers: { default: "local", local: { baseUrl: "http://127.0.0.1:9/v1" } } },
      "NETWORK_ERROR",
    ],
    ["a provider of no name", { providers: { default: "acme" } }, "PROVIDER_NOT_SUPPORTED"],
  ])("%s fails with its code and does not throw", async (_, config, error) => {
    const host = { env: {}, run: async () => undefined };
    const client = createLLMClient({ config, retry: { enabled: false }, host });
    expect(await client.invoke("Hi")).toMatchObject({ success: false, error });
  });
});

describe("structured output", () => {
  const Person = z.object({ name: z.string(), age: z.number() });

  test("a zod schema goes to the provider, and the answer comes back in its shape", async () => {
    const { client, server } = await openClient([{ text: '{"name":"Ada","age":36}' }]);
    const result = await client.invoke("Who wrote the first program?", { output: Person });
    expect(result.success && result.result.output).toEqual({ name: "Ada", age: 36 });
    expect(JSON.stringify(server.requests[0]?.body)).toMatch(/"age".*"name"|"name".*"age"/);
  });

  test("if parsing fails, the text stays and the structure is skipped", async () => {
    const { client } = await openClient([{ text: "Ada, 36" }, { text: '{"name":"Ada"}' }]);
    for (const content of ["Ada, 36", '{"name":"Ada"}']) {
      const result = await client.invoke("Who?", { output: Person });
      expect(result).toMatchObject({ success: true, result: { content, mismatch: expect.any(String) } });
      expect(result.success && result.result.output).toBeUndefined();
    }
  });

  test("every provider that speaks OpenAI's format sends the schema", async () => {
    const server = await serveScriptedModel([{ text: '{"name":"Ada","age":36}' }]);
    onTestFinished(() => server.close());
    const local = { baseUrl: `${server.url}/v1`, model: "phi4" };
    const client = createLLMClient({ config: { providers: { default: "local", local } } });
    await client.invoke("Who?", { output: Person });
    expect(server.requests[0]?.body).toMatchObject({
      response_format: { type: "json_schema", json_schema: { schema: { required: ["name", "age"] } } },
    });
  });
});

describe("a provider that falls silent", () => {
  test.each([
    ["before its headers", { text: "never", hangAfter: 0 }, "invoke"],
    ["before its first word", { text: "never", hangAfter: 0 }, "stream"],
  ] as const)("%s gives TIMEOUT, after the retries", async (_, reply, method) => {
    const retries: string[] = [];
    const { client, server } = await openClient(() => reply, {
      idleTimeoutMs: 250,
      retry: { maxRetries: 1, baseDelayMs: 1 },
      callbacks: { onRetry: ({ error }) => retries.push(error) },
    });
    expect(await client[method]("Hi")).toMatchObject({ success: false, error: "TIMEOUT" });
    expect(retries).toEqual(["TIMEOUT"]);
    expect(server.requests).toHaveLength(2);
  });

  test("in the middle of a stream gives an error chunk", async () => {
    const { client } = await openClient([{ text: "one two three", hangAfter: 4 }], { idleTimeoutMs: 200 });
    const response = await client.stream("Hi");
    const chunks = response.success ? await Array.fromAsync(response.result) : [];
    expect(chunks[0]).toMatchObject({ type: "text-delta" });
    expect(chunks.at(-1)).toMatchObject({ type: "error", error: "TIMEOUT" });
  });

  test("ends a run of the agent with TIMEOUT", async () => {
    const { ask } = await openTerminalAgent(() => ({ text: "one two", hangAfter: 2 }), {
      settings: { agent: { idleTimeoutMs: 100 }, retry: { baseDelayMs: 1 } },
    });
    expect((await ask("Hi")).end).toMatchObject({ outcome: "failed", error: { code: "TIMEOUT" } });
  });
});

describe("the agent", () => {
  const read = defineTool({
    name: "read_file",
    description: "Reads a file.",
    execute: () => {
      throw new Error("the disk is gone");
    },
  });

  function openAgent(script: ModelScript) {
    const gateway = createGateway({
      domains: [defineDomain({ name: "fs", description: "Files.", tools: [read] })],
    });
    onTestFinished(() => gateway.close());
    return createAgent({ gateway, model: createScriptedModel(script) });
  }

  test("the callbacks come in the document's order, each with its span", async () => {
    const agent = openAgent([
      { calls: [{ name: "tool_search", args: { query: "read a file" } }] },
      { text: "Nothing to read." },
    ]);
    const events = await Array.fromAsync(run(agent, "query"));
    expect(events.map(({ type }) => type).filter((type) => type !== "llm-text")).toEqual([
      "agent-start",
      "llm-start",
      "llm-end",
      "tool-start",
      "tool-end",
      "llm-start",
      "llm-end",
      "agent-end",
    ]);
    const [root] = events;
    for (const { span } of events) {
      expect(span.traceId).toBe(root!.span.traceId);
      expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
    }
    expect(events.find(({ type }) => type === "llm-end")).toMatchObject({ finish: "tool-calls" });
  });

  test("a tool that throws becomes an answer with a code, and the run goes on", async () => {
    const agent = openAgent([
      { calls: [{ name: "tool_search", args: { query: "read a file" } }] },
      { calls: [{ name: "read_file", args: {} }] },
      { text: "It failed." },
    ]);
    const events = await Array.fromAsync(run(agent, "Read it"));
    expect(events.filter(({ type }) => type === "tool-end").at(-1)).toMatchObject({
      ok: false,
      error: "INTERNAL",
    });
    expect(events.at(-1)).toMatchObject({ type: "agent-end", outcome: "answered" });
  });

  test("agent.temperature and agent.maxTokens reach the provider; maxRunTokens ends a run", async () => {
    const { ask, server } = await openTerminalAgent(
      () => ({ calls: [{ name: "tool_search", args: { query: "x" } }], usage: { input: 600, output: 500 } }),
      { settings: { agent: { temperature: 0.2, maxTokens: 777, maxRunTokens: 1000 } } },
    );
    expect((await ask("Hi")).end).toMatchObject({ outcome: "token-limit", steps: 1 });
    expect(server.requests[0]?.body).toMatchObject({ temperature: 0.2, max_tokens: 777 });
  });

  test.each([
    ["length", "cut-off", "ANSWER_CUT_OFF"],
    ["content-filter", "filtered", "ANSWER_FILTERED"],
  ] as const)("the finish reason %s is told", async (finish, outcome, code) => {
    const agent = openAgent([{ text: "Once upon a", finish }]);
    const events = await Array.fromAsync(run(agent, "Tell me a story"));
    expect(events.find(({ type }) => type === "llm-end")).toMatchObject({ finish });
    expect(events.at(-1)).toMatchObject({ outcome, text: "Once upon a", error: { code } });
  });

  test("a JSON Schema shapes the answer of a run, which is corrected once", async () => {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const agent = openAgent([{ text: "Bern" }, { text: '{"city":"Bern"}' }]);
    const [end] = (await Array.fromAsync(run(agent, "Where?", { output: schema }))).slice(-1);
    expect(end).toMatchObject({ outcome: "answered", output: { city: "Bern" } });
    const stubborn = openAgent([{ text: "Bern" }, { text: '{"town":"Bern"}' }]);
    const [failed] = (await Array.fromAsync(run(stubborn, "Where?", { output: schema }))).slice(-1);
    expect(failed).toMatchObject({ outcome: "failed", error: { code: "OUTPUT_INVALID" } });
  });
});

describe("the core prompt", () => {
  test("has about 450 tokens: identity, folder, system, date, conventions, where tools come from", async () => {
    const { ask, server, project } = await openTerminalAgent(() => ({ text: "Hi." }));
    await ask("Hello");
    const told = instructionsOf(server.requests[0]);
    expect(told).toMatch(/^You are Keyhole/);
    expect(told).toContain(project);
    expect(told).toMatch(new RegExp(`System: ${process.platform} `));
    const today = new Date();
    expect(told).toMatch(new RegExp(`Date: \\w+, ${today.getFullYear()}-\\d\\d-\\d\\d`));
    expect(told).toMatch(/MCP servers, APIs, skills and documents/);
    expect(told).toContain("Use ask to find");
    expect(countTokens(told)).toBeGreaterThan(200);
    expect(countTokens(told)).toBeLessThan(520);
  });

  test("own prompt files take its place: of the user, or of a trusted project", async () => {
    const home = { ".keyhole/prompt.md": "You are Ada's agent in ${folder}.\n\n${core}" };
    const project = { ".keyhole/prompt.md": "You keep this shop." };
    const untrusted = await openTerminalAgent(() => ({ text: "Hi." }), { home, project });
    await untrusted.ask("Hello");
    const told = instructionsOf(untrusted.server.requests[0]);
    expect(told).toContain(`You are Ada's agent in ${untrusted.project}.\n\nYou are Keyhole`);
    expect(told).not.toContain("shop");
    const trusted = await openTerminalAgent(() => ({ text: "Hi." }), { home, project, trusted: true });
    await trusted.ask("Hello");
    expect(instructionsOf(trusted.server.requests[0])).toMatch(/^You keep this shop\./);
  });

  test("the setting agent.systemPrompt comes before any file", async () => {
    const { ask, server } = await openTerminalAgent(() => ({ text: "Hi." }), {
      settings: { agent: { systemPrompt: "Speak in rhymes." } },
      home: { ".keyhole/prompt.md": "Speak plainly." },
    });
    await ask("Hello");
    expect(instructionsOf(server.requests[0])).toMatch(/^Speak in rhymes\./);
  });
});

describe("the session", () => {
  test("start, end and duration are logged with the calls, and resumed sessions too", async () => {
    const { ask, agent, session, home } = await openTerminalAgent(() => ({
      text: "Hi.",
      usage: { input: 5, output: 1 },
    }));
    await ask("Hello");
    await session.end();
    const again = await agent.openSession({ resume: session.id });
    await Array.fromAsync(run(agent, "And again?", { session: again }));
    await again.end();
    const records = readFileSync(join(home, ".keyhole/sessions", `${session.id}.jsonl`), "utf8")
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    const ends = records.filter(({ type }) => type === "session-end");
    expect(records[0]).toMatchObject({ type: "session", id: session.id, at: expect.any(String) });
    expect(ends).toHaveLength(2);
    for (const { durationMs } of ends) expect(durationMs).toBeGreaterThanOrEqual(0);
    expect(records.findIndex(({ type }) => type === "session-resumed")).toBe(records.indexOf(ends[0]) + 1);
    expect(records.find(({ event }) => event?.type === "llm-end").event).toMatchObject({
      usage: { input: 5, output: 1 },
      finish: "stop",
    });
    expect(again.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });
});
