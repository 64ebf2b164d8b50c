import { z } from "zod";
import { text, url, withoutEndSlash } from "./config-fields.ts";
import { defineProvider, notConfigured } from "./define-provider.ts";
import { defaultModelOf } from "./model-facts.ts";
import { createModelFetch } from "./model-fetch.ts";
import { listOf, textsOf } from "./model-listing.ts";
import { successResponse } from "./model-response.ts";

const API = "https://api.anthropic.com/v1";

export const anthropic = defineProvider({
  config: z.strictObject({ apiKey: text, model: text, baseUrl: url }),
  env: { apiKey: ["ANTHROPIC_API_KEY"] },
  modelField: () => "model",
  defaultModel: () => defaultModelOf("anthropic"),
  serverUrl: ({ baseUrl }) => baseUrl ?? API,
  listing: ({ apiKey, baseUrl }) =>
    apiKey
      ? {
          url: `${withoutEndSlash(baseUrl ?? API)}/models?limit=1000`,
          headers: { "x-api-key": apiKey, "anthropic-version": "2023-06-01" },
          ownUrl: baseUrl,
          namesIn: (body) => textsOf(listOf(body, "data"), "id"),
        }
      : undefined,
  telemetryName: "anthropic",
  package: "@ai-sdk/anthropic",
  create: async ({ apiKey, baseUrl }, context) => {
    const { name, model, load } = context;
    if (!apiKey) return notConfigured(name, "set providers.anthropic.apiKey or ANTHROPIC_API_KEY.");
    const { createAnthropic } = await load(() => import("@ai-sdk/anthropic"));
    const provider = createAnthropic({
      apiKey,
      baseURL: baseUrl ?? API,
      fetch: await createModelFetch(context, baseUrl),
    });
    return successResponse(
      { model: provider(model), secrets: () => [apiKey] },
      `Anthropic's ${model} is ready.`,
    );
  },
});
