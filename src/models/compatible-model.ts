import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ProviderName } from "../schema/models-config.ts";
import { loadPackage } from "./load-package.ts";
import { createModelFetch } from "./model-fetch.ts";
import { withoutEndSlash } from "./provider.ts";

export interface CompatibleServer {
  readonly provider: ProviderName;
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as a bearer token; asked for with every request where it is a function. */
  readonly apiKey?: string | (() => Promise<string>);
  readonly headers?: Record<string, string>;
}

/** A model behind a server that speaks OpenAI's chat completions. */
export async function createCompatibleModel(server: CompatibleServer): Promise<LanguageModelV4> {
  const { provider, baseUrl, model, apiKey, headers } = server;
  const { createOpenAICompatible } = await loadPackage(
    "@ai-sdk/openai-compatible",
    `The provider ${provider}`,
    () => import("@ai-sdk/openai-compatible"),
  );
  return createOpenAICompatible({
    name: provider,
    baseURL: withoutEndSlash(baseUrl),
    includeUsage: true,
    fetch: createModelFetch(baseUrl),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(headers ? { headers } : {}),
  })(model);
}
