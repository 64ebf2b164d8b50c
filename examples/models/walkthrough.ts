// Gets a model by its provider's name: a busy server, an answer, a stream. The server is a script on loopback.
import assert from "node:assert/strict";
import { createLLMClient } from "keyhole/models";
import { serveScriptedModel } from "keyhole/testing";

const server = await serveScriptedModel([
  { error: { status: 429, message: "Too many requests", headers: { "retry-after": "0" } } },
  { text: "Bern.", usage: { input: 14, output: 2 } },
  { text: "It lies on the Aare.", usage: { input: 15, output: 6 } },
]);

const client = createLLMClient({
  config: { providers: { default: "local", local: { baseUrl: `${server.url}/v1`, model: "phi4" } } },
  callbacks: {
    onRetry: ({ attempt, error }) => console.log(`retry ${attempt}: ${error}`),
    onStreamChunk: (chunk) => process.stdout.write(chunk),
    onStreamEnd: (usage) => console.log(` (${usage?.totalTokens} tokens)`),
  },
});

const answer = await client.invoke("What is the capital of Switzerland?");
assert(answer.success);
console.log(answer.result.content, answer.result.usage);
assert.deepEqual(answer.result.usage, { promptTokens: 14, completionTokens: 2, totalTokens: 16 });

const stream = await client.stream("Which river is it on?");
assert(stream.success);
const chunks = await Array.fromAsync(stream.result);
assert.equal(chunks.at(-1)?.type, "finish");

await server.close();
const failed = await client.invoke("Are you still there?", { signal: AbortSignal.timeout(500) });
assert(!failed.success);
console.log(failed.error);
