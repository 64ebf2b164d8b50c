import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  calculateDelay,
  createLLMClient,
  errorResponse,
  extractRetryAfter,
  extractTokenUsage,
  getProviderFactory,
  getSupportedProviders,
  isModelError,
  isModelSuccess,
  isProviderSupported,
  isRetryableError,
  type ModelErrorCode,
  mapErrorToCode,
  successResponse,
  withRetry,
} from "keyhole/models";
import { serveScriptedModel } from "keyhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "./temporary-folder.ts";

test("responses are made and told apart", () => {
  const done = successResponse({ content: "Bern" }, "answered");
  const failed = errorResponse("RATE_LIMITED", "busy", 200);
  expect([isModelSuccess(done), isModelError(done)]).toEqual([true, false]);
  expect([isModelSuccess(failed), isModelError(failed)]).toEqual([false, true]);
  expect(failed).toEqual({ success: false, error: "RATE_LIMITED", message: "busy", retryAfterMs: 200 });
});

test("withRetry repeats temporary failures only, after the wait that the provider asks for", async () => {
  const run = async (codes: readonly ModelErrorCode[], maxRetries = 3) => {
    const left = [...codes];
    const delays: number[] = [];
    const operation = async () => {
      const code = left.shift();
      return code ? errorResponse(code, "no", 0) : successResponse("yes", "answered");
    };
    const onRetry = ({ delayMs }: { delayMs: number }) => void delays.push(delayMs);
    return { response: await withRetry(operation, { maxRetries, onRetry }), delays };
  };
  expect(await run(["RATE_LIMITED", "TIMEOUT", "NETWORK_ERROR"])).toEqual({
    response: { success: true, result: "yes", message: "answered" },
    delays: [0, 0, 0],
  });
  expect(await run(["AUTHENTICATION_ERROR"])).toMatchObject({
    response: { success: false, error: "AUTHENTICATION_ERROR" },
    delays: [],
  });
  expect((await run(["TIMEOUT", "TIMEOUT"], 1)).response).toMatchObject({ success: false, error: "TIMEOUT" });
});

test("errors, waits and token counts are read as the document lists them", () => {
  expect(
    ["rate limit", "401 unauthorized", "no such thing"].map((text) => mapErrorToCode(new Error(text))),
  ).toEqual(["RATE_LIMITED", "AUTHENTICATION_ERROR", "UNKNOWN"]);
  expect([isRetryableError("TIMEOUT"), isRetryableError("MODEL_NOT_FOUND")]).toEqual([true, false]);
  expect(calculateDelay(2, 1_000, 10_000, false)).toBe(4_000);
  expect(extractRetryAfter({ responseHeaders: { "retry-after": "60" } })).toBe(60_000);
  expect(extractRetryAfter({ retryAfter: 30 })).toBe(30_000);
  expect(extractRetryAfter(new Error("x"))).toBeUndefined();
  expect(extractTokenUsage({ usage: { input_tokens: 3, output_tokens: 4 } })).toEqual({
    promptTokens: 3,
    completionTokens: 4,
    totalTokens: 7,
  });
});

test("the registry makes models of every provider, and answers failures", async () => {
  for (const name of getSupportedProviders()) expect(getProviderFactory(name)).toBeTypeOf("function");
  expect([isProviderSupported("openai"), isProviderSupported("nobody")]).toEqual([true, false]);
  expect(getProviderFactory("nobody")).toBeUndefined();
  const made = await getProviderFactory("openai")?.({ apiKey: "k", model: "gpt-test" });
  expect(made && isModelSuccess(made) && made.result.modelId).toBe("gpt-test");
  expect(await getProviderFactory("custom")?.({ model: "x" })).toMatchObject({
    error: "PROVIDER_NOT_CONFIGURED",
    message: expect.stringContaining("providers.custom.npm"),
  });
});

test("a provider of one's own is a function that makes a model", async () => {
  const server = await serveScriptedModel([{ text: "Bern" }]);
  onTestFinished(() => server.close());
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const acme = () =>
    createOpenAICompatible({ name: "acme", baseURL: `${server.url}/v1` }).languageModel("acme-1");
  const client = createLLMClient({ config: { providers: { default: "acme" } }, providers: { acme } });
  expect(await client.invoke("Capital?")).toMatchObject({ success: true, result: { content: "Bern" } });
});

test("a package of the AI SDK is a provider by settings; one that is absent says how to install it", async () => {
  const server = await serveScriptedModel([{ text: "Bern" }]);
  onTestFinished(() => server.close());
  const custom = {
    npm: "@ai-sdk/deepseek",
    model: "deepseek-chat",
    apiKey: "k",
    baseUrl: `${server.url}/v1`,
  };
  const client = createLLMClient({ config: { providers: { default: "custom", custom } } });
  expect(await client.invoke("Capital?")).toMatchObject({ success: true, result: { content: "Bern" } });
  const absent = { npm: "@ai-sdk/not-installed", model: "x" };
  const other = createLLMClient({ config: { providers: { default: "custom", custom: absent } } });
  expect(await other.invoke("Capital?")).toMatchObject({
    success: false,
    error: "PROVIDER_NOT_CONFIGURED",
    message: expect.stringContaining("npm install --prefix ~/.keyhole @ai-sdk/not-installed"),
  });
});

test("a package that lies in the folder of the project is not loaded", async () => {
  const project = temporaryFolder();
  const folder = join(project, "node_modules/evil-provider");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "evil-provider", "main": "index.js" }');
  writeFileSync(join(folder, "index.js"), "throw new Error('it runs')");
  const before = process.cwd();
  process.chdir(project);
  onTestFinished(() => process.chdir(before));
  const custom = { npm: "evil-provider", model: "x" };
  expect(await getProviderFactory("custom")?.(custom)).toMatchObject({
    message: expect.stringContaining("which is not installed"),
  });
});
