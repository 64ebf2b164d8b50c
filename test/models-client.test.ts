import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { generateText } from "ai";
import { createLLMClient, type LLMClientOptions } from "keyhole/models";
import { type ScriptedReply, type ServedModel, serveScriptedModel } from "keyhole/testing";
import { afterEach, expect } from "vitest";
import type { LLMCallbacks } from "../src/agent/models/llm-client.ts";
import type { ModelsConfig } from "../src/agent/models/models-config.ts";
import { verifies } from "./claims.ts";
import { SECRET } from "./model-providers.ts";

let server: ServedModel | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

const busy: ScriptedReply = { error: { status: 429, message: "busy", headers: { "retry-after": "7" } } };
const down: ScriptedReply = { error: { status: 503, message: "down" } };

verifies("models:retry", "callbacks of a stream are called in order, with the delays", async () => {
  const { client, told, waits } = await start([
    busy,
    down,
    { text: "one two", usage: { input: 1, output: 2 } },
  ]);
  const response = await client.stream("Hi");
  expect(told.map(([name]) => name)).toEqual(["onStreamStart", "onRetry", "onRetry"]);
  if (response.success) for await (const _ of response.result);
  expect(told.slice(1)).toEqual([
    ["onRetry", expect.objectContaining({ attempt: 1, maxRetries: 3, delayMs: 7000, error: "RATE_LIMITED" })],
    ["onRetry", expect.objectContaining({ attempt: 2, delayMs: 2000, error: "NETWORK_ERROR" })],
    ["onStreamChunk", "one "],
    ["onStreamChunk", "two"],
    ["onStreamEnd", { promptTokens: 1, completionTokens: 2, totalTokens: 3 }],
  ]);
  expect(waits).toEqual([7000, 2000]);
});

verifies("models:retry", "a call that keeps failing reports once, after its retries", async () => {
  const { client, told, waits } = await start([down, down, down, down, { text: "too late" }]);
  expect(await client.invoke("Hi")).toMatchObject({ success: false, error: "NETWORK_ERROR" });
  expect(waits).toEqual([1000, 2000, 4000]);
  expect(told.map(([name]) => name)).toEqual(["onRetry", "onRetry", "onRetry", "onError"]);
  expect(told.at(-1)).toEqual(["onError", "NETWORK_ERROR", "local (503): down"]);
});

verifies("models:retry", "a permanent failure is not retried", async () => {
  const { client, waits } = await start([{ error: { status: 404, message: "no such model" } }]);
  expect(await client.invoke("Hi")).toMatchObject({ error: "MODEL_NOT_FOUND" });
  expect(waits).toEqual([]);
  expect(server?.requests).toHaveLength(1);
});

verifies("models:retry", "the config sets retries, and the client's option overrides it", async () => {
  const once = await start([down, down], { retry: { maxRetries: 0 } }, { retry: { maxRetries: 5 } });
  expect(await once.client.invoke("Hi")).toMatchObject({ success: false });
  expect(once.waits).toEqual([]);
  await server?.close();
  const bad = await start([], {}, { retry: { maxRetries: -1 } });
  expect(await bad.client.invoke("Hi")).toMatchObject({ error: "PROVIDER_NOT_CONFIGURED" });
});

verifies("models:errors", "callbacks that throw do not break the call", async () => {
  const boom = () => {
    throw new Error("boom");
  };
  const callbacks = {
    onStreamStart: boom,
    onRetry: boom,
    onStreamChunk: boom,
    onStreamEnd: boom,
    onError: boom,
  };
  const { client } = await start([down, { text: "fine" }, { error: { status: 401, message: "no" } }], {
    callbacks,
  });
  const response = await client.stream("Hi");
  expect(response.success && (await Array.fromAsync(response.result))).toHaveLength(2);
  expect(await client.invoke("Hi")).toMatchObject({ error: "AUTHENTICATION_ERROR" });
});

verifies("models:errors", "an answer in another format is an invalid response", async () => {
  const url = await page(200, "<html>Welcome</html>");
  const client = createLLMClient({ config: local(url.href) });
  expect(await client.invoke("Hi")).toMatchObject({ success: false, error: "INVALID_RESPONSE" });
  await url.close();
});

verifies("models:errors", "an unreachable server is a network error", async () => {
  const url = await page(200, "");
  await url.close();
  const client = createLLMClient({ config: local(url.href), retry: { enabled: false } });
  expect(await client.invoke("Hi")).toMatchObject({ success: false, error: "NETWORK_ERROR" });
  expect(await client.stream("Hi")).toMatchObject({ success: false, error: "NETWORK_ERROR" });
});

verifies("models:errors", "a cancelled call ends and is not retried", async () => {
  const { client, waits } = await start([{ text: "never" }]);
  const signal = AbortSignal.abort();
  expect(await client.invoke("Hi", { signal })).toMatchObject({ success: false, error: "UNKNOWN" });
  expect(await client.stream("Hi", { signal })).toMatchObject({ success: false, error: "UNKNOWN" });
  const model = await client.languageModel();
  if (!model.success) throw new Error(model.message);
  const loop = generateText({ model: model.result, prompt: "Hi", maxRetries: 0, abortSignal: signal });
  await expect(loop).rejects.toMatchObject({ name: "AbortError" });
  expect(waits).toEqual([]);
});

verifies("models:streams", "to stop reading ends the request", async () => {
  let closed = false;
  const endless = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const choices = [{ index: 0, delta: { content: "more " }, finish_reason: null }];
    const timer = setInterval(() => response.write(`data: ${JSON.stringify({ id: "1", choices })}\n\n`), 5);
    response.on("close", () => {
      clearInterval(timer);
      closed = true;
    });
  });
  const url = await listen(endless);
  const response = await createLLMClient({ config: local(url.href) }).stream("Hi");
  if (!response.success) throw new Error(response.message);
  for await (const chunk of response.result) {
    expect(chunk).toEqual({ type: "text-delta", text: "more " });
    break;
  }
  await expect.poll(() => closed).toBe(true);
  await url.close();
});

verifies("models:config", "the model is made once, and again when its config changes", async () => {
  server = await serveScriptedModel(() => ({ text: "Hi" }));
  const url = server.url;
  let runs = 0;
  let providers: ModelsConfig["providers"] = { default: "github", github: { endpoint: url } };
  const run = async () => `gh-token-${++runs}`;
  const client = createLLMClient({ config: () => ({ providers }), host: { env: {}, run } });
  await Promise.all([client.invoke("1"), client.invoke("2")]);
  expect([runs, client.getProviderName(), client.getModelName()]).toEqual([1, "github", "gpt-4o-mini"]);
  providers = { default: "github", github: { endpoint: url, model: "phi-4" } };
  await client.invoke("3");
  expect([runs, client.getModelName()]).toEqual([2, "phi-4"]);
  providers = { ...providers, default: "local", local: { baseUrl: url } };
  await client.invoke("4");
  expect([runs, client.getProviderName(), client.getModelName()]).toEqual([2, "local", "llama3.3:latest"]);
  const sent = server.requests.map(({ body }) => (body as { model: string }).model);
  expect(sent).toEqual(["gpt-4o-mini", "gpt-4o-mini", "phi-4", "llama3.3:latest"]);
});

verifies("models:config", "a model that could not be made is tried again with the next call", async () => {
  server = await serveScriptedModel(() => ({ text: "Hi" }));
  const env: Record<string, string> = {};
  const config = { providers: { default: "openai", openai: { baseUrl: server.url } } };
  const client = createLLMClient({ config, host: { env } });
  expect(await client.invoke("1")).toMatchObject({ error: "PROVIDER_NOT_CONFIGURED" });
  env.OPENAI_API_KEY = SECRET;
  expect(await client.invoke("2")).toMatchObject({ success: true });
});

async function start(
  replies: readonly ScriptedReply[],
  options: Partial<LLMClientOptions> = {},
  config: Partial<ModelsConfig> = {},
) {
  server = await serveScriptedModel(replies);
  const told: unknown[][] = [];
  const waits: number[] = [];
  const note = (name: keyof LLMCallbacks) => ({
    [name]: (...args: unknown[]) => void told.push([name, ...args]),
  });
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    after: (ms: number, wake: () => void) => {
      waits.push(ms);
      setImmediate(wake);
      return () => {};
    },
  };
  const client = createLLMClient({
    config: { ...local(server.url), ...config },
    callbacks: Object.assign(
      {},
      ...(["onStreamStart", "onStreamChunk", "onStreamEnd", "onError", "onRetry"] as const).map(note),
    ),
    // 0.5 means no jitter.
    random: () => 0.5,
    host: { clock },
    ...options,
  });
  return { client, told, waits };
}

function local(baseUrl: string): ModelsConfig {
  return { providers: { default: "local", local: { baseUrl } } };
}

function page(status: number, body: string) {
  return listen(createServer((_request, response) => response.writeHead(status).end(body)));
}

async function listen(http: ReturnType<typeof createServer>) {
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      http.close(() => resolve());
      http.closeAllConnections();
    });
  return { href: `http://127.0.0.1:${port}`, close };
}
