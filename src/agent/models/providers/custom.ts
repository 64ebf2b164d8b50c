import type { LanguageModelV4 } from "@ai-sdk/provider";
import { z } from "zod";
import { problem } from "../../../base/problems/problem.ts";
import { importInstalled } from "../../../base/util/import-module.ts";
import { defineProvider, notConfigured, text, url } from "./define-provider.ts";
import { modelProblem } from "./model-errors.ts";
import { createModelFetch } from "./model-fetch.ts";

type MakeProvider = (options: object) => ((model: string) => LanguageModelV4) & {
  languageModel?(model: string): LanguageModelV4;
};

/** Any other provider of the AI SDK, by the name of its package. */
export const custom = defineProvider({
  config: z.strictObject({
    npm: z
      .string()
      .regex(/^(?:@[\w.-]{1,100}\/)?[\w.-]{1,100}$/, "must be the name of a package")
      .optional(),
    model: text,
    apiKey: text,
    baseUrl: url,
    options: z.record(z.string(), z.unknown()).optional(),
  }),
  env: {},
  modelField: () => "model",
  serverUrl: ({ baseUrl }) => baseUrl,
  telemetryName: "custom",
  package: "the one that npm names",
  create: async ({ npm, apiKey, baseUrl, options }, context) => {
    const { name, model } = context;
    if (npm === undefined)
      throw notConfigured(
        name,
        "set providers.custom.npm to a package of the AI SDK, such as @ai-sdk/mistral.",
      );
    const loaded = await importInstalled(npm);
    if (!loaded) {
      const { message, next } = problem("PACKAGE_MISSING", { name: npm, feature: `The provider ${name}` });
      throw modelProblem("PROVIDER_NOT_CONFIGURED", `${message} ${next}`);
    }
    const make = Object.entries(loaded).find(
      ([exported, value]) => /^create[A-Z]/.test(exported) && typeof value === "function",
    )?.[1] as MakeProvider | undefined;
    if (!make) throw notConfigured(name, `${npm} exports no function that creates a provider.`);
    const fetch = await createModelFetch(context, baseUrl);
    const provider = make({
      ...options,
      ...(apiKey && { apiKey }),
      ...(baseUrl && { baseURL: baseUrl }),
      fetch,
    });
    return {
      model: provider.languageModel?.(model) ?? provider(model),
      secrets: () => (apiKey ? [apiKey] : []),
    };
  },
});
