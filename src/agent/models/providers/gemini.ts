import { z } from "zod";
import { defineProvider, notConfigured, text, url } from "./define-provider.ts";
import { defaultModelOf } from "./model-facts.ts";
import { createModelFetch, namesIn, withoutEndSlash } from "./model-fetch.ts";

const API = "https://generativelanguage.googleapis.com/v1beta";

export const gemini = defineProvider({
  config: z.strictObject({ apiKey: text, model: text, baseUrl: url, useVertexai: z.boolean().optional() }),
  env: { apiKey: ["GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"] },
  modelField: () => "model",
  defaultModel: () => defaultModelOf("gemini"),
  serverUrl: ({ baseUrl }) => baseUrl ?? API,
  listing: ({ apiKey, baseUrl }) =>
    apiKey && {
      url: `${withoutEndSlash(baseUrl ?? API)}/models?pageSize=1000`,
      headers: { "x-goog-api-key": apiKey },
      ownUrl: baseUrl,
      namesIn: (body) => namesIn(chatModelsIn(body), "", "name").map((name) => name.replace(/^models\//, "")),
    },
  telemetryName: "gcp.gemini",
  package: "@ai-sdk/google",
  create: async ({ apiKey, baseUrl, useVertexai }, context) => {
    const { name, model, load } = context;
    if (useVertexai) {
      throw notConfigured(
        name,
        "Vertex AI is not supported, only the Gemini API. Remove useVertexai and use an API key, or give the agent a model of @ai-sdk/google-vertex.",
      );
    }
    if (!apiKey) throw notConfigured(name, "set providers.gemini.apiKey or GOOGLE_API_KEY.");
    const { createGoogle } = await load(() => import("@ai-sdk/google"));
    const fetch = await createModelFetch(context, baseUrl);
    const provider = createGoogle({ apiKey, baseURL: baseUrl ?? API, fetch });
    return { model: provider(model), secrets: () => [apiKey] };
  },
});

/** The list also has models for embeddings, images and speech. */
function chatModelsIn(body: unknown): unknown[] {
  const { models } = (body ?? {}) as { models?: unknown };
  return (Array.isArray(models) ? models : []).filter((model: unknown) => {
    const { supportedGenerationMethods: methods } = (model ?? {}) as { supportedGenerationMethods?: unknown };
    return !Array.isArray(methods) || methods.includes("generateContent");
  });
}
