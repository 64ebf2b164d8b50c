import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { createLLMClient, type LLMClientOptions, type ModelResponse } from "keyhole/models";
import { type ScriptedReply, type ServedModel, serveScriptedModel } from "keyhole/testing";
import { afterEach, describe, expect } from "vitest";
import { z } from "zod";
import type { StreamChunk, StreamResult } from "../src/agent/models/llm-client.ts";
import type { ModelErrorCode } from "../src/agent/models/providers/model-errors.ts";
import { verifies } from "./claims.ts";
import { PROVIDER_CASES, type ProviderCase, SECRET } from "./model-providers.ts";

let server: ServedModel | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

const usage = { input: 12, output: 5 };
const counted = { promptTokens: 12, completionTokens: 5, totalTokens: 17 };

describe.each(PROVIDER_CASES)("$name ($variant)", (provider) => {
  verifies("models:wire", "a whole answer arrives with its usage, and credentials are sent", async () => {
    const client = await serve(provider, [{ text: "Hello there, you.", usage }]);
    const response = await client.invoke("Hi");
    expect(response).toMatchObject({
      success: true,
      result: { content: "Hello there, you.", usage: counted },
    });
    expect(server?.paths).toEqual([provider.path]);
    expect(server?.requests[0]?.messages).toEqual([{ role: "user", text: "Hi", calls: [] }]);
    if (provider.auth) expect(server?.headers[0]).toHaveProperty(...provider.auth);
    else expect(server?.headers[0]).not.toHaveProperty("authorization");
  });

  verifies("models:wire", "a stream arrives chunk by chunk with its usage", async () => {
    const client = await serve(provider, [{ text: "Hello there, you.", usage }]);
    const chunks = await read(await client.stream("Hi"));
    expect(chunks).toEqual([
      { type: "text-delta", text: "Hello " },
      { type: "text-delta", text: "there, " },
      { type: "text-delta", text: "you." },
      { type: "finish", finishReason: "stop", usage: counted },
    ]);
    expect(server?.paths).toEqual([provider.streamPath ?? provider.path]);
  });

  verifies("models:wire", "tool calls work in the AI SDK's loop, whole and streamed", async () => {
    const asked = { calls: [{ name: "weather", args: { city: "Bern" } }], usage };
    const client = await serve(provider, [
      asked,
      { text: "Sunny.", usage },
      asked,
      { text: "Sunny.", usage },
    ]);
    const model = await client.languageModel();
    if (!model.success) throw new Error(model.message);
    const weather = tool({
      inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
      execute: async ({ city }) => `${city} is sunny`,
    });
    const loop = {
      model: model.result,
      tools: { weather },
      prompt: "How is it in Bern?",
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    };
    const whole = await generateText(loop);
    expect(whole.text).toBe("Sunny.");
    const streamed = streamText(loop);
    expect(await streamed.text).toBe("Sunny.");
    expect(server?.requests.map(({ tools }) => tools)).toEqual(Array(4).fill(["weather"]));
    for (const request of [server?.requests[1], server?.requests[3]]) {
      expect(request?.messages.at(-2)?.calls).toEqual(["weather"]);
      expect(request?.messages.at(-1)).toMatchObject({ role: "tool" });
      expect(request?.messages.at(-1)?.text).toContain("Bern is sunny");
    }
  });

  verifies("models:wire", "an answer tells why it ended, whole and streamed", async () => {
    for (const finish of ["length", "content-filter"] as const) {
      const client = await serve(provider, [
        { text: "Once", finish },
        { text: "Once", finish },
      ]);
      expect(await client.invoke("Hi")).toMatchObject({ result: { finishReason: finish } });
      expect((await read(await client.stream("Hi"))).at(-1)).toMatchObject({ finishReason: finish });
      await server?.close();
    }
  });

  verifies("models:wire", "the schema of a structured answer is sent", async () => {
    const client = await serve(provider, [{ text: '{"city":"Bern"}' }]);
    const output = z.object({ city: z.string().describe("The name of the town") });
    const answer = await client.invoke("Where?", { output });
    expect(answer.success && answer.result.output).toEqual({ city: "Bern" });
    expect(JSON.stringify(server?.requests[0]?.body)).toContain("The name of the town");
  });

  verifies("models:errors", "errors of the server have their code and contain no secret", async () => {
    const cases: readonly (readonly [number, ModelErrorCode])[] = [
      [401, "AUTHENTICATION_ERROR"],
      [404, "MODEL_NOT_FOUND"],
      [429, "RATE_LIMITED"],
      [500, "NETWORK_ERROR"],
      [503, "NETWORK_ERROR"],
    ];
    const planted = provider.auth ? SECRET : "nothing";
    const replies = cases.flatMap(([status]) => Array(3).fill(refusal(status, planted)));
    const told: unknown[] = [];
    const onError = (...args: unknown[]) => void told.push(args);
    const client = await serve(provider, replies, { callbacks: { onError }, retry: { enabled: false } });
    const model = await client.languageModel();
    if (!model.success) throw new Error(model.message);
    for (const [status, code] of cases) {
      const invoked = await client.invoke("Hi");
      const streamed = await client.stream("Hi");
      expect([status, invoked, streamed]).toMatchObject([status, { error: code }, { error: code }]);
      const thrown = await generateText({ model: model.result, prompt: "Hi", maxRetries: 0 }).catch(
        (error) => error,
      );
      expect(thrown).toMatchObject({ code, next: expect.stringMatching(/\.$/) });
      const said = JSON.stringify([invoked, streamed, thrown, thrown.message, thrown.stack, told]);
      expect(said).not.toContain(SECRET);
    }
    expect(told).toHaveLength(cases.length * 3);
  });

  verifies(
    "models:streams",
    "a stream that breaks after its first chunk ends with an error and is not retried",
    async () => {
      const client = await serve(provider, [{ text: "one two three four five six", breakAfter: 5 }]);
      const chunks = await read(await client.stream("Hi"));
      expect(chunks[0]).toEqual({ type: "text-delta", text: "one " });
      expect(chunks.at(-1)).toMatchObject({ type: "error", error: "NETWORK_ERROR" });
      expect(server?.requests).toHaveLength(1);
    },
  );

  verifies("models:streams", "a stream that breaks before its first chunk is retried", async () => {
    const client = await serve(provider, [{ text: "one two", breakAfter: 0 }, { text: "whole" }]);
    const chunks = await read(await client.stream("Hi"));
    expect(chunks.map((chunk) => chunk.type)).toEqual(["text-delta", "finish"]);
    expect(server?.requests).toHaveLength(2);
  });

  verifies("models:streams", "a stream that ends early is not taken for a whole answer", async () => {
    const client = await serve(provider, [{ text: "one two three four five six", endAfter: 5 }]);
    const chunks = await read(await client.stream("Hi"));
    expect(chunks.at(-1)).toMatchObject({ type: "error", error: "INVALID_RESPONSE" });
  });
});

function refusal(status: number, planted: string): ScriptedReply {
  return { error: { status, message: `Refused what came with ${planted}` } };
}

async function serve(
  provider: ProviderCase,
  replies: readonly ScriptedReply[],
  options: Partial<LLMClientOptions> = {},
) {
  server = await serveScriptedModel(replies);
  return createLLMClient({
    config: { providers: { default: provider.name, ...provider.config(server.url) } },
    retry: { baseDelayMs: 0 },
    host: { env: {}, run: async () => undefined, ...provider.host?.(server.url) },
    ...options,
  });
}

async function read(response: ModelResponse<StreamResult>): Promise<StreamChunk[]> {
  if (!response.success) throw new Error(`${response.error} ${response.message}`);
  return Array.fromAsync(response.result);
}
