import { z } from "zod";
import { defineProvider, text, url } from "./define-provider.ts";
import { bearer, createCompatibleModel, withoutEndSlash } from "./model-fetch.ts";

/** Addresses and default models of known local servers. LM Studio serves whichever model was loaded. */
const PRESETS = {
  ollama: { baseUrl: "http://localhost:11434/v1", model: "llama3.3:latest" },
  lmstudio: { baseUrl: "http://localhost:1234/v1", model: undefined },
  docker: { baseUrl: "http://model-runner.docker.internal/engines/llama.cpp/v1", model: "ai/phi4" },
} as const;

export const local = defineProvider({
  config: z.strictObject({
    preset: z.enum(["ollama", "lmstudio", "docker"]).optional(),
    baseUrl: url,
    model: text,
    apiKey: text,
  }),
  env: {},
  modelField: () => "model",
  defaultModel: ({ preset = "ollama" }) => PRESETS[preset].model,
  serverUrl: ({ preset = "ollama", baseUrl = PRESETS[preset].baseUrl }) => baseUrl,
  listing: ({ preset = "ollama", baseUrl = PRESETS[preset].baseUrl, apiKey }) => ({
    url: `${withoutEndSlash(baseUrl)}/models`,
    headers: bearer(apiKey),
    ownUrl: baseUrl,
  }),
  telemetryName: "local",
  package: "@ai-sdk/openai-compatible",
  create: async ({ preset = "ollama", baseUrl = PRESETS[preset].baseUrl, apiKey }, context) => {
    const model = await createCompatibleModel({ baseUrl, ...(apiKey ? { apiKey } : {}) }, context);
    return { model, secrets: () => (apiKey ? [apiKey] : []) };
  },
});
