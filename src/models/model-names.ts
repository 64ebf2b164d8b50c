import { PROVIDER_SCHEMAS, type ProviderConfig, type ProviderName } from "../schema/models-config.ts";
import { firstFilled } from "./provider.ts";

/** Where known local servers listen, and the model to ask them for. What LM Studio has depends on what was loaded. */
export const LOCAL_PRESETS = {
  ollama: { baseUrl: "http://localhost:11434/v1", model: "llama3.3:latest" },
  lmstudio: { baseUrl: "http://localhost:1234/v1", model: undefined },
  docker: { baseUrl: "http://model-runner.docker.internal/engines/llama.cpp/v1", model: "ai/phi4" },
} as const;

/** The model that a provider's config names, or its default; Azure calls its models by their deployment. */
export const MODEL_NAMES = {
  openai: ({ model }: ProviderConfig<"openai">) => firstFilled(model) ?? "gpt-5-mini",
  anthropic: ({ model }: ProviderConfig<"anthropic">) => firstFilled(model) ?? "claude-haiku-4-5",
  azure: ({ deployment }: ProviderConfig<"azure">) => firstFilled(deployment),
  foundry: ({ mode, modelAlias, modelDeployment }: ProviderConfig<"foundry">) =>
    mode === "cloud" ? (firstFilled(modelDeployment) ?? "gpt-4o") : (firstFilled(modelAlias) ?? "phi-4"),
  gemini: ({ model }: ProviderConfig<"gemini">) => firstFilled(model) ?? "gemini-2.0-flash-exp",
  github: ({ model }: ProviderConfig<"github">) => firstFilled(model) ?? "gpt-4o-mini",
  local: ({ model, preset = "ollama" }: ProviderConfig<"local">) =>
    firstFilled(model, LOCAL_PRESETS[preset].model),
};

/** As above, for a config that nobody has looked at yet; undefined if it is not valid. */
export function modelNameOf(provider: ProviderName, config: unknown): string | undefined {
  const parsed = PROVIDER_SCHEMAS[provider].safeParse(config ?? {});
  // The name has picked schema and function alike, which the type of neither can say.
  const nameOf = MODEL_NAMES[provider] as (config: unknown) => string | undefined;
  return parsed.success ? nameOf(parsed.data) : undefined;
}
