import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { costOf, defaultModelOf, MODEL_FACTS, MODEL_FACTS_DATE, modelFacts } from "./model-facts.ts";
import { PROVIDERS } from "./providers.ts";

const PACKAGES = {
  anthropic: "@ai-sdk/anthropic",
  openai: "@ai-sdk/openai",
  gemini: "@ai-sdk/google",
} as const;

test("every model of the table is one that the provider's package knows, and the default too", () => {
  const require = createRequire(import.meta.url);
  for (const [provider, name] of Object.entries(PACKAGES)) {
    const types = readFileSync(
      join(dirname(require.resolve(`${name}/package.json`)), "dist/index.d.ts"),
      "utf8",
    );
    const ours = MODEL_FACTS.filter((facts) => facts.provider === provider);
    expect(ours.map((facts) => facts.name).filter((each) => !types.includes(`'${each}'`))).toEqual([]);
    const made = PROVIDERS[provider as keyof typeof PACKAGES].defaultModel?.({});
    expect(made).toBe(defaultModelOf(provider as keyof typeof PACKAGES));
  }
  expect(MODEL_FACTS_DATE).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});

test("a dated name and one with its vendor have the facts of the model, another word has not", () => {
  expect(modelFacts("claude-sonnet-5-5-20260928")?.name).toBe("claude-sonnet-5-5");
  expect(modelFacts("openai/gpt-6.1-sol")?.name).toBe("gpt-6.1-sol");
  expect(modelFacts("gpt-6.1-sol-turbo")).toBeUndefined();
});

test("cached, written, long and later tokens have prices of their own", () => {
  const day = new Date("2026-11-17");
  const million = { input: 1_000_000, output: 0, cached: 0 };
  const cost = (name: string, tokens: object, on = day) => costOf(name, { ...million, ...tokens }, on);
  expect(cost("claude-sonnet-5-5", {})).toBeCloseTo(2);
  expect(cost("claude-sonnet-5-5", { cached: 1_000_000 })).toBeCloseTo(0.1);
  expect(cost("claude-sonnet-5-5", { cached: 500_000, cacheWritten: 500_000 })).toBeCloseTo(0.05 + 1.25);
  expect(cost("claude-sonnet-5-5", { input: 0, output: 1_000_000 })).toBeCloseTo(10);
  expect(cost("gpt-6.1-sol", { input: 272_000 })).toBeCloseTo(0.272 * 2);
  expect(cost("gpt-6.1-sol", { input: 272_001 })).toBeCloseTo(0.272001 * 4);
  expect(cost("gemini-4-argon", {}, new Date("2026-11-30"))).toBeCloseTo(2);
  expect(cost("gemini-4-argon", {}, new Date("2026-12-01"))).toBeCloseTo(4);
  expect(cost("claude-fable-5-2", {})).toBeUndefined();
  expect(cost("no-such-model", {})).toBeUndefined();
});
