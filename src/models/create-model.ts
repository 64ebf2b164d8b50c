import { PROVIDER_SCHEMAS, type ProviderName } from "../schema/models-config.ts";
import { createRedact } from "../util/redact.ts";
import { errorResponse, type ModelResponse } from "./model-response.ts";
import { notConfigured, type ProviderFactory, type ReadyModel, type Surroundings } from "./provider.ts";
import { toErrorResponse } from "./to-error-response.ts";

/** Each provider with its package is loaded when it is first used. */
const FACTORIES: { readonly [Name in ProviderName]: () => Promise<ProviderFactory<Name>> } = {
  openai: async () => (await import("./providers/openai.ts")).createOpenAIModel,
  anthropic: async () => (await import("./providers/anthropic.ts")).createAnthropicModel,
  azure: async () => (await import("./providers/azure.ts")).createAzureModel,
  foundry: async () => (await import("./providers/foundry.ts")).createFoundryModel,
  gemini: async () => (await import("./providers/gemini.ts")).createGeminiModel,
  github: async () => (await import("./providers/github.ts")).createGitHubModel,
  local: async () => (await import("./providers/local.ts")).createLocalModel,
};

export function getSupportedProviders(): ProviderName[] {
  return Object.keys(FACTORIES) as ProviderName[];
}

export function isProviderSupported(name: string): name is ProviderName {
  return Object.hasOwn(FACTORIES, name);
}

/** Makes a provider's model from its part of a config. Never throws. */
export async function createModel(
  name: string,
  config: unknown,
  surroundings: Surroundings,
): Promise<ModelResponse<ReadyModel>> {
  if (!isProviderSupported(name)) {
    const known = getSupportedProviders().join(", ");
    return errorResponse(
      "PROVIDER_NOT_SUPPORTED",
      `There is no provider ${name.slice(0, 100)}. There are: ${known}.`,
    );
  }
  const parsed = PROVIDER_SCHEMAS[name].safeParse(config ?? {});
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    return notConfigured(name, `${faults.join("; ")}.`);
  }
  try {
    // The name has picked schema and factory alike, which the type of neither can say.
    const factory = (await FACTORIES[name]()) as ProviderFactory<ProviderName>;
    return await factory(parsed.data, surroundings);
  } catch (error) {
    const secrets = Object.values(parsed.data).filter((value) => typeof value === "string");
    return toErrorResponse(error, {
      provider: name,
      redact: createRedact(secrets),
      now: surroundings.clock.now(),
    });
  }
}
