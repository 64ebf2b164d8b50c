import { z } from "zod";
import { createCompatibleModel } from "./compatible-model.ts";
import { text, url } from "./config-fields.ts";
import { defineProvider } from "./define-provider.ts";
import { bearer, compatibleListing } from "./model-listing.ts";
import { successResponse } from "./model-response.ts";

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
  listing: ({ preset = "ollama", baseUrl = PRESETS[preset].baseUrl, apiKey }) =>
    compatibleListing(baseUrl, bearer(apiKey), baseUrl),
  telemetryName: "local",
  package: "@ai-sdk/openai-compatible",
  create: async ({ preset = "ollama", baseUrl = PRESETS[preset].baseUrl, apiKey }, context) => {
    const model = await createCompatibleModel({ baseUrl, ...(apiKey ? { apiKey } : {}) }, context);
    const secrets = () => (apiKey ? [apiKey] : []);
    return successResponse({ model, secrets }, `${context.model} at ${baseUrl} is ready.`);
  },
});
