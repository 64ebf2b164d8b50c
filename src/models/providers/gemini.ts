import { loadPackage } from "../load-package.ts";
import { createModelFetch } from "../model-fetch.ts";
import { MODEL_NAMES } from "../model-names.ts";
import { successResponse } from "../model-response.ts";
import { firstFilled, notConfigured, type ProviderFactory } from "../provider.ts";

const KEYS = ["GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"];

export const createGeminiModel: ProviderFactory<"gemini"> = async (config, { env }) => {
  if (config.useVertexai) {
    return notConfigured(
      "gemini",
      "it speaks the Gemini API and not Vertex AI. Leave useVertexai out and use an API key, or give the agent a model of @ai-sdk/google-vertex.",
    );
  }
  const apiKey = firstFilled(config.apiKey, ...KEYS.map((key) => env[key]));
  if (!apiKey) return notConfigured("gemini", "set providers.gemini.apiKey or GOOGLE_API_KEY.");
  const baseURL = firstFilled(config.baseUrl);
  const { createGoogle } = await loadPackage(
    "@ai-sdk/google",
    "The provider gemini",
    () => import("@ai-sdk/google"),
  );
  const provider = createGoogle({
    apiKey,
    baseURL: baseURL ?? "https://generativelanguage.googleapis.com/v1beta",
    fetch: createModelFetch(baseURL),
  });
  const name = MODEL_NAMES.gemini(config);
  return successResponse({ model: provider(name), secrets: () => [apiKey] }, `Google's ${name} is ready.`);
};
