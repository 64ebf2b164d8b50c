import { createCompatibleModel } from "../compatible-model.ts";
import { successResponse } from "../model-response.ts";
import { firstFilled, notConfigured, type ProviderFactory } from "../provider.ts";

/** Where known servers listen, and the model to ask them for. What LM Studio has depends on what was loaded. */
export const LOCAL_PRESETS = {
  ollama: { baseUrl: "http://localhost:11434/v1", model: "llama3.3:latest" },
  lmstudio: { baseUrl: "http://localhost:1234/v1", model: undefined },
  docker: { baseUrl: "http://model-runner.docker.internal/engines/llama.cpp/v1", model: "ai/phi4" },
} as const;

export const createLocalModel: ProviderFactory<"local"> = async (config) => {
  const preset = LOCAL_PRESETS[config.preset ?? "ollama"];
  const name = firstFilled(config.model, preset.model);
  if (!name) return notConfigured("local", `set providers.local.model; ${config.preset} has no default.`);
  const baseUrl = firstFilled(config.baseUrl) ?? preset.baseUrl;
  const apiKey = firstFilled(config.apiKey);
  const server = { provider: "local" as const, baseUrl, model: name };
  const model = await createCompatibleModel({ ...server, ...(apiKey ? { apiKey } : {}) });
  return successResponse(
    { model, secrets: () => (apiKey ? [apiKey] : []) },
    `${name} at ${baseUrl} is ready.`,
  );
};
