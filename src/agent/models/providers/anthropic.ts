import { z } from "zod";
import { defineProvider, notConfigured, text, url } from "./define-provider.ts";
import { defaultModelOf } from "./model-facts.ts";
import { createModelFetch, withoutEndSlash } from "./model-fetch.ts";

const API = "https://api.anthropic.com/v1";

/** Answers of models that only speak this format. Without a limit, the SDK cuts them off at 4,096 tokens. */
const OTHERS_TOKENS = 8_192;

export const anthropic = defineProvider({
  config: z.strictObject({ apiKey: text, model: text, baseUrl: url }),
  env: { apiKey: ["ANTHROPIC_API_KEY"] },
  modelField: () => "model",
  defaultModel: () => defaultModelOf("anthropic"),
  serverUrl: ({ baseUrl }) => baseUrl ?? API,
  listing: ({ apiKey, baseUrl }) =>
    apiKey && {
      url: `${withoutEndSlash(baseUrl ?? API)}/models?limit=1000`,
      headers: { "x-api-key": apiKey, "anthropic-version": "2023-06-01" },
      ownUrl: baseUrl,
    },
  telemetryName: "anthropic",
  package: "@ai-sdk/anthropic",
  create: async ({ apiKey, baseUrl }, context) => {
    const { name, model, load } = context;
    if (!apiKey) throw notConfigured(name, "set providers.anthropic.apiKey or ANTHROPIC_API_KEY.");
    const { createAnthropic } = await load(() => import("@ai-sdk/anthropic"));
    const fetch = await createModelFetch(context, baseUrl);
    const provider = createAnthropic({ apiKey, baseURL: baseUrl ?? API, fetch });
    const ready = { model: provider(model), secrets: () => [apiKey] };
    return model.includes("claude-") ? ready : { ...ready, maxTokens: OTHERS_TOKENS };
  },
});
