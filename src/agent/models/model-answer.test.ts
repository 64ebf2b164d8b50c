import fc from "fast-check";
import { expect, test } from "vitest";
import { extractTokenUsage } from "./model-answer.ts";

const expected = { promptTokens: 7, completionTokens: 3, totalTokens: 10 };

test.each([
  ["OpenAI chat", { usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } }],
  ["OpenAI responses", { usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 } }],
  ["Anthropic", { usage: { input_tokens: 7, output_tokens: 3 } }],
  ["generic", { token_usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } }],
  ["camelCase", { tokenUsage: { promptTokens: 7, completionTokens: 3 } }],
  ["the AI SDK's models", { inputTokens: { total: 7, cacheRead: 5 }, outputTokens: { total: 3 } }],
  ["the AI SDK's results", { usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 } }],
])("%s", (_, metadata) => {
  expect(extractTokenUsage(metadata)).toEqual(expected);
});

test.each([[undefined], [null], [{}], [{ usage: {} }], [{ usage: { prompt_tokens: "7" } }], [[]], ["text"]])(
  "no usage in %j",
  (metadata) => {
    expect(extractTokenUsage(metadata)).toBeUndefined();
  },
);

test("counts are numbers for any input", () => {
  fc.assert(
    fc.property(fc.anything(), (metadata) => {
      const usage = extractTokenUsage({ usage: metadata });
      for (const count of Object.values(usage ?? {})) expect(count).toBeGreaterThanOrEqual(0);
    }),
  );
});
