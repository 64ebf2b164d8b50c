import { generateText } from "ai";
import { createLLMClient } from "keyhole/models";
import { serveScriptedModel } from "keyhole/testing";
import { expect, test } from "vitest";
import { type ModelsConfig, providersConfigSchema } from "../src/agent/models/models-config.ts";
import type { ProviderHost, RunCommand } from "../src/agent/models/providers/define-provider.ts";
import { getSupportedProviders, isProviderSupported } from "../src/agent/models/providers/providers.ts";
import { verifies } from "./claims.ts";
import { foundryLocal, SECRET } from "./model-providers.ts";

const AZURE = { endpoint: "https://x.openai.azure.com", deployment: "gpt" };
const PROJECT = { mode: "cloud", projectEndpoint: "https://x.services.ai.azure.com" } as const;

test("the providers are listed", () => {
  const names = ["openai", "anthropic", "azure", "foundry", "gemini", "github", "local", "custom"];
  expect(getSupportedProviders()).toEqual(names);
  expect(providersConfigSchema.parse({})).toEqual({ default: "openai" });
});

for (const [what, providers, words] of [
  ["openai without a key", { default: "openai" }, ["providers.openai.apiKey", "OPENAI_API_KEY"]],
  ["no provider named, which is openai", {}, ["OPENAI_API_KEY"]],
  ["an empty key", { default: "openai", openai: { apiKey: " " } }, ["OPENAI_API_KEY"]],
  ["anthropic without a key", { default: "anthropic" }, ["ANTHROPIC_API_KEY"]],
  [
    "azure without an endpoint",
    { default: "azure", azure: { deployment: "x" } },
    ["providers.azure.endpoint"],
  ],
  [
    "azure without a deployment",
    { default: "azure", azure: { ...AZURE, deployment: "" } },
    ["providers.azure.deployment"],
  ],
  ["azure without credentials", { default: "azure", azure: AZURE }, ["AZURE_OPENAI_API_KEY", "az login"]],
  ["foundry without an endpoint", { default: "foundry", foundry: { mode: "cloud" } }, ["projectEndpoint"]],
  [
    "foundry without credentials",
    { default: "foundry", foundry: PROJECT },
    ["AZURE_FOUNDRY_API_KEY", "az login"],
  ],
  ["foundry without its SDK", { default: "foundry" }, ["foundry-local-sdk", "npm install foundry-local-sdk"]],
  ["gemini without a key", { default: "gemini" }, ["GOOGLE_API_KEY"]],
  [
    "gemini over Vertex AI",
    { default: "gemini", gemini: { useVertexai: true } },
    ["Vertex AI", "@ai-sdk/google-vertex"],
  ],
  ["github without a token", { default: "github" }, ["GITHUB_TOKEN", "gh auth login"]],
  [
    "LM Studio without a model",
    { default: "local", local: { preset: "lmstudio" } },
    ["providers.local.model"],
  ],
  ["an address that is none", { default: "local", local: { baseUrl: "ftp://x" } }, ["baseUrl", "http"]],
  [
    "an address with a password",
    { default: "local", local: { baseUrl: `http://me:${SECRET}@x` } },
    ["baseUrl", "password"],
  ],
  ["a deployment that climbs", { default: "azure", azure: { ...AZURE, deployment: "../x" } }, ["deployment"]],
  ["a field that is none", { default: "openai", openai: { apikey: SECRET } }, ["apikey"]],
] satisfies [string, object, string[]][]) {
  verifies("models:config", `a missing or wrong field is named: ${what}`, async () => {
    const response = await ask(providers as ModelsConfig["providers"]);
    expect(response).toMatchObject({ success: false, error: "PROVIDER_NOT_CONFIGURED" });
    for (const word of words) expect(response.message).toContain(word);
    expect(response.message).not.toContain(SECRET);
  });
}

test.each(["nobody", "constructor", "__proto__", "toString"])("provider %s is not found", async (name) => {
  expect(isProviderSupported(name)).toBe(false);
  const response = await ask({ default: name });
  expect(response).toMatchObject({ success: false, error: "PROVIDER_NOT_SUPPORTED" });
  expect(response.message).toContain("openai, anthropic");
});

const FALLBACKS = [
  ["openai", "OPENAI_API_KEY", "gpt-6.1-sol", {}],
  ["anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-5-5", {}],
  ["azure", "AZURE_OPENAI_API_KEY", "gpt", AZURE],
  ["foundry", "AZURE_FOUNDRY_API_KEY", "gpt-4o", PROJECT],
  ["gemini", "GOOGLE_API_KEY", "gemini-4-argon", {}],
  ["github", "GITHUB_TOKEN", "gpt-4o-mini", {}],
  ["local", "", "llama3.3:latest", {}],
] as const;

for (const [name, variable, model, part] of FALLBACKS) {
  verifies("models:config", `${name} needs only ${variable || "no variable"}`, async () => {
    const config = { providers: { default: name, [name]: part } };
    const run = async () => {
      throw new Error("no program is run when the key is there");
    };
    const client = createLLMClient({ config, host: { env: { [variable]: SECRET }, run } });
    const made = await client.languageModel();
    expect(made.success && made.result.modelId).toBe(model);
    expect(client.getModelName()).toBe(model);
    expect(made.message).not.toContain(SECRET);
  });
}

verifies("models:config", "the CLIs are asked for tokens last, without a shell", async () => {
  const asked: unknown[] = [];
  const run: RunCommand = async (...command) => {
    asked.push(command);
    return command[0] === "gh"
      ? "gho_x\n"
      : JSON.stringify({ accessToken: "eyJ", expires_on: 4_000_000_000 });
  };
  expect(await make({ default: "github" }, { run })).toBe(true);
  expect(await make({ default: "azure", azure: AZURE }, { run })).toBe(true);
  expect(await make({ default: "foundry", foundry: PROJECT }, { run })).toBe(true);
  const azure = (resource: string) => [
    "account",
    "get-access-token",
    "--resource",
    resource,
    "--output",
    "json",
  ];
  expect(asked).toEqual([
    ["gh", ["auth", "token"]],
    ["az", azure("https://cognitiveservices.azure.com")],
    ["az", azure("https://ai.azure.com")],
  ]);
});

verifies("models:config", "a token of the Azure CLI is used until shortly before it expires", async () => {
  const server = await serveScriptedModel(() => ({ text: "Hi" }));
  let now = 0;
  let runs = 0;
  const run = async () => JSON.stringify({ accessToken: `token-${++runs}`, expires_on: now / 1000 + 3600 });
  const clock = { now: () => now, monotonic: () => now, after: () => () => {} };
  const config = { providers: { default: "azure", azure: { endpoint: server.url, deployment: "gpt" } } };
  const client = createLLMClient({ config, host: { env: {}, run, clock } });
  await client.invoke("1");
  now += 54 * 60_000;
  await client.invoke("2");
  now += 2 * 60_000;
  await client.invoke("3");
  const sent = server.headers.map(({ authorization }) => authorization);
  expect(sent).toEqual(["Bearer token-1", "Bearer token-1", "Bearer token-2"]);
  await server.close();
});

verifies("models:config", "an expired login is reported as such", async () => {
  const server = await serveScriptedModel(() => ({ text: "Hi" }));
  let now = 0;
  const token = JSON.stringify({ accessToken: "token", expires_on: 3600 });
  const run = async () => (now === 0 ? token : undefined);
  const clock = { now: () => now, monotonic: () => now, after: () => () => {} };
  for (const providers of [
    { default: "azure", azure: { endpoint: server.url, deployment: "gpt" } },
    { default: "foundry", foundry: { mode: "cloud" as const, projectEndpoint: server.url } },
  ]) {
    now = 0;
    const client = createLLMClient({ config: { providers }, host: { env: {}, run, clock } });
    expect(await client.invoke("1")).toMatchObject({ success: true });
    now = 3_600_000;
    const response = await client.invoke("2");
    expect(response).toMatchObject({ success: false, error: "AUTHENTICATION_ERROR" });
    expect(response.message).toContain("az login");
  }
  await server.close();
});

verifies("models:config", "Foundry Local names the model that it does not have", async () => {
  const importFoundryLocal = async () => foundryLocal("http://127.0.0.1:1");
  const response = await ask({ default: "foundry", foundry: { modelAlias: "nope" } }, { importFoundryLocal });
  expect(response).toMatchObject({ success: false, error: "MODEL_NOT_FOUND" });
  expect(response.message).toContain("nope");
});

verifies("models:config", "the config's temperature applies to calls without one", async () => {
  const server = await serveScriptedModel(() => ({ text: "Hi" }));
  const importFoundryLocal = async () => foundryLocal(server.url);
  const config = { providers: { default: "foundry", foundry: { temperature: 0.5 } } };
  const client = createLLMClient({ config, host: { importFoundryLocal } });
  await client.invoke("1");
  await client.invoke("2", { temperature: 0.1, maxTokens: 9 });
  const model = await client.languageModel();
  if (model.success) await generateText({ model: model.result, prompt: "3" });
  const sent = server.requests.map(({ body }) => body);
  expect(sent).toMatchObject([
    { temperature: 0.5 },
    { temperature: 0.1, max_tokens: 9 },
    { temperature: 0.5 },
  ]);
  await server.close();
});

verifies("models:config", "models that nobody has listed have room for an answer", async () => {
  const server = await serveScriptedModel(() => ({ text: "Hi" }));
  for (const model of ["our-own", "claude-next-9"])
    await ask({ default: "anthropic", anthropic: { apiKey: "k", baseUrl: `${server.url}/v1`, model } });
  const [own, claude] = server.requests.map(({ body }) => (body as { max_tokens: number }).max_tokens);
  expect(own).toBe(8_192);
  expect(claude).toBeGreaterThan(8_192);
  await server.close();
});

test.each([
  ["ollama", "llama3.3:latest at http://localhost:11434/v1"],
  ["docker", "ai/phi4 at http://model-runner.docker.internal/engines/llama.cpp/v1"],
] as const)("the preset %s has an address and a model", async (preset, expected) => {
  const client = createLLMClient({ config: { providers: { default: "local", local: { preset } } } });
  expect((await client.languageModel()).message).toContain(expected);
});

function ask(providers: ModelsConfig["providers"], host: Partial<ProviderHost> = {}) {
  const nothing = { env: {}, run: async () => undefined };
  return createLLMClient({
    config: providers ? { providers } : {},
    retry: { enabled: false },
    host: { ...nothing, ...host },
  }).invoke("Hi");
}

async function make(providers: ModelsConfig["providers"], host: Partial<ProviderHost>) {
  const config = providers ? { providers } : {};
  const client = createLLMClient({ config, host: { env: {}, ...host } });
  return (await client.languageModel()).success;
}
