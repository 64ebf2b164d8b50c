import { loadPackage } from "../load-package.ts";
import { createModelFetch } from "../model-fetch.ts";
import { MODEL_NAMES } from "../model-names.ts";
import { successResponse } from "../model-response.ts";
import { firstFilled, notConfigured, type ProviderFactory } from "../provider.ts";

export const createOpenAIModel: ProviderFactory<"openai"> = async (config, { env }) => {
  const apiKey = firstFilled(config.apiKey, env.OPENAI_API_KEY);
  if (!apiKey) return notConfigured("openai", "set providers.openai.apiKey or OPENAI_API_KEY.");
  const baseURL = firstFilled(config.baseUrl);
  const { createOpenAI } = await loadPackage(
    "@ai-sdk/openai",
    "The provider openai",
    () => import("@ai-sdk/openai"),
  );
  const provider = createOpenAI({
    apiKey,
    // Given always, or the SDK would look into the environment for one of its own.
    baseURL: baseURL ?? "https://api.openai.com/v1",
    fetch: createModelFetch(baseURL),
  });
  const name = MODEL_NAMES.openai(config);
  const api = config.api ?? (baseURL ? "chat" : "responses");
  const model = api === "chat" ? provider.chat(name) : provider.responses(name);
  return successResponse({ model, secrets: () => [apiKey] }, `OpenAI's ${name} is ready.`);
};
