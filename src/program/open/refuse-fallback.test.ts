import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { loadSettings } from "./load-settings.ts";
import { refuseFallback } from "./open-agent.ts";

async function load(settings: string, env: Record<string, string> = {}) {
  const home = temporaryFolder();
  mkdirSync(join(home, ".keyhole"));
  writeFileSync(join(home, ".keyhole", "settings.json"), settings);
  return loadSettings({ home, project: temporaryFolder(), env });
}

test.each([
  ["of the command line", { provider: "anthropc" }, {}],
  ["of a variable", {}, { KEYHOLE_PROVIDER: "anthropc" }],
])("a misspelt provider %s is refused with the nearest one", async (_where, options, env) => {
  const loaded = await load("{}", env);
  expect(() => refuseFallback(loaded, options, env)).toThrow(
    "Provider anthropc not found. Did you mean anthropic?",
  );
});

test("settings that cannot be read choose no other provider", async () => {
  const misspelt = await load('{ "providers": { "default": "anthropc" } }');
  expect(() => refuseFallback(misspelt, {}, {})).toThrow(/settings\.json/);
  const broken = await load('{ "providers": ');
  expect(() => refuseFallback(broken, {}, {})).toThrow(/settings\.json/);
  expect(() => refuseFallback(broken, { provider: "anthropic" }, {})).not.toThrow();
});

test.each([
  ["only Anthropic's key", { ANTHROPIC_API_KEY: "k" }, "{}", "anthropic"],
  ["both keys", { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" }, "{}", "openai"],
  ["a key and a choice", { ANTHROPIC_API_KEY: "k" }, '{ "providers": { "default": "local" } }', "local"],
  ["a key and a variable", { ANTHROPIC_API_KEY: "k", KEYHOLE_PROVIDER: "gemini" }, "{}", "gemini"],
  ["a token of GitHub", { GITHUB_TOKEN: "k" }, "{}", "openai"],
  ["a key in the settings", {}, '{ "providers": { "gemini": { "apiKey": "k" } } }', "gemini"],
])("with %s, the provider is found", async (_what, env, settings, provider) => {
  const loaded = await load(settings, { ...env, KEYHOLE_MODEL: "m" });
  expect(loaded.settings.providers.default).toBe(provider);
  expect(loaded.settings.providers[provider as "anthropic"]).toMatchObject({ model: "m" });
});
