import { z } from "zod";
import { defineProvider } from "../../src/agent/models/providers/define-provider.ts";
import { createScriptedModel } from "../../src/testing/scripted-model.ts";

/** The one file of a new provider. */
export const acme = defineProvider({
  config: z.strictObject({
    region: z.string().optional(),
    brain: z.string().optional(),
    apiKey: z.string().optional(),
  }),
  env: { apiKey: ["ACME_KEY", "ACME_OLD_KEY"] },
  modelField: () => "brain",
  defaultModel: () => "small-brain",
  serverUrl: () => undefined,
  telemetryName: "acme.ai",
  package: "@acme/sdk",
  create: async ({ apiKey = "none" }, context) => ({
    model: createScriptedModel(() => ({ text: `Hello from ${context.model} with ${apiKey}.` })),
    secrets: () => [apiKey],
  }),
});
