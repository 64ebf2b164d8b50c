import type { LanguageModelV4 } from "@ai-sdk/provider";
import { withoutEndSlash } from "./config-fields.ts";
import type { ProviderContext } from "./define-provider.ts";
import { createModelFetch } from "./model-fetch.ts";

interface CompatibleServer {
  readonly baseUrl: string;
  /** Sent as a bearer token. A function is called for every request. */
  readonly apiKey?: string | (() => Promise<string>);
  readonly headers?: Record<string, string>;
}

/** A model on a server that speaks OpenAI's chat completions. */
export async function createCompatibleModel(
  { baseUrl, ...credentials }: CompatibleServer,
  context: ProviderContext,
): Promise<LanguageModelV4> {
  const { name, model, load } = context;
  const { createOpenAICompatible } = await load(() => import("@ai-sdk/openai-compatible"));
  return createOpenAICompatible({
    name,
    baseURL: withoutEndSlash(baseUrl),
    includeUsage: true,
    // Without it the schema of a structured answer would not be sent.
    supportsStructuredOutputs: true,
    fetch: await createModelFetch(context, baseUrl),
    ...credentials,
  })(model);
}
