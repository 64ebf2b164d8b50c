import { z } from "zod";
import { defineProvider, notConfigured, text, url } from "./define-provider.ts";
import { defaultModelOf } from "./model-facts.ts";
import { bearer, createModelFetch, namesIn, withoutEndSlash } from "./model-fetch.ts";

/** Models of OpenAI that answer no chat. */
const OTHER_WORK =
  /embedding|whisper|tts|dall-e|image|audio|realtime|transcribe|moderation|sora|live|babbage|davinci|instruct/;
const API = "https://api.openai.com/v1";

export const openai = defineProvider({
  config: z.strictObject({
    apiKey: text,
    model: text,
    baseUrl: url,
    api: z
      .enum(["responses", "chat"])
      .optional()
      .describe("OpenAI's API; with a baseUrl it is chat, because most other servers have no other"),
  }),
  env: { apiKey: ["OPENAI_API_KEY"], baseUrl: ["OPENAI_BASE_URL"] },
  modelField: () => "model",
  defaultModel: () => defaultModelOf("openai"),
  serverUrl: ({ baseUrl }) => baseUrl ?? API,
  listing: ({ apiKey, baseUrl }) =>
    apiKey && {
      url: `${withoutEndSlash(baseUrl ?? API)}/models`,
      headers: bearer(apiKey),
      ownUrl: baseUrl,
      namesIn: (body) => namesIn(body).filter((name) => !OTHER_WORK.test(name)),
    },
  telemetryName: "openai",
  package: "@ai-sdk/openai",
  create: async ({ apiKey, baseUrl, api = baseUrl ? "chat" : "responses" }, context) => {
    const { name, model, load } = context;
    if (!apiKey) throw notConfigured(name, "set providers.openai.apiKey or OPENAI_API_KEY.");
    const { createOpenAI } = await load(() => import("@ai-sdk/openai"));
    const fetch = await createModelFetch(context, baseUrl);
    const provider = createOpenAI({ apiKey, baseURL: baseUrl ?? API, fetch });
    return {
      model: api === "chat" ? provider.chat(model) : provider.responses(model),
      secrets: () => [apiKey],
    };
  },
});
