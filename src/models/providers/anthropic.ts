import { loadPackage } from "../load-package.ts";
import { createModelFetch } from "../model-fetch.ts";
import { MODEL_NAMES } from "../model-names.ts";
import { successResponse } from "../model-response.ts";
import { firstFilled, notConfigured, type ProviderFactory } from "../provider.ts";

export const createAnthropicModel: ProviderFactory<"anthropic"> = async (config, { env }) => {
  const apiKey = firstFilled(config.apiKey, env.ANTHROPIC_API_KEY);
  if (!apiKey) return notConfigured("anthropic", "set providers.anthropic.apiKey or ANTHROPIC_API_KEY.");
  const baseURL = firstFilled(config.baseUrl);
  const { createAnthropic } = await loadPackage(
    "@ai-sdk/anthropic",
    "The provider anthropic",
    () => import("@ai-sdk/anthropic"),
  );
  const provider = createAnthropic({
    apiKey,
    baseURL: baseURL ?? "https://api.anthropic.com/v1",
    fetch: createModelFetch(baseURL),
  });
  const name = MODEL_NAMES.anthropic(config);
  return successResponse({ model: provider(name), secrets: () => [apiKey] }, `Anthropic's ${name} is ready.`);
};
