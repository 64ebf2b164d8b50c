import { z } from "zod";
import { text, url, withoutEndSlash } from "./config-fields.ts";
import { defineProvider, notConfigured } from "./define-provider.ts";
import { defaultModelOf } from "./model-facts.ts";
import { createModelFetch } from "./model-fetch.ts";
import { listOf, textsOf } from "./model-listing.ts";
import { successResponse } from "./model-response.ts";

const API = "https://generativelanguage.googleapis.com/v1beta";

export const gemini = defineProvider({
  config: z.strictObject({ apiKey: text, model: text, baseUrl: url, useVertexai: z.boolean().optional() }),
  env: { apiKey: ["GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"] },
  modelField: () => "model",
  defaultModel: () => defaultModelOf("gemini"),
  serverUrl: ({ baseUrl }) => baseUrl ?? API,
  listing: ({ apiKey, baseUrl }) =>
    apiKey
      ? {
          url: `${withoutEndSlash(baseUrl ?? API)}/models?pageSize=1000`,
          headers: { "x-goog-api-key": apiKey },
          ownUrl: baseUrl,
          namesIn: (body) => textsOf(listOf(body, "models").filter(answersChats), "name").map(plainName),
        }
      : undefined,
  telemetryName: "gcp.gemini",
  package: "@ai-sdk/google",
  create: async ({ apiKey, baseUrl, useVertexai }, context) => {
    const { name, model, load } = context;
    if (useVertexai) {
      return notConfigured(
        name,
        "Vertex AI is not supported, only the Gemini API. Remove useVertexai and use an API key, or give the agent a model of @ai-sdk/google-vertex.",
      );
    }
    if (!apiKey) return notConfigured(name, "set providers.gemini.apiKey or GOOGLE_API_KEY.");
    const { createGoogle } = await load(() => import("@ai-sdk/google"));
    const provider = createGoogle({
      apiKey,
      baseURL: baseUrl ?? API,
      fetch: await createModelFetch(context, baseUrl),
    });
    return successResponse(
      { model: provider(model), secrets: () => [apiKey] },
      `Google's ${model} is ready.`,
    );
  },
});

function answersChats(model: unknown): boolean {
  const { supportedGenerationMethods: methods } = (model ?? {}) as { supportedGenerationMethods?: unknown };
  return !Array.isArray(methods) || methods.includes("generateContent");
}

function plainName(name: string): string {
  return name.replace(/^models\//, "");
}
