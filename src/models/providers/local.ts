import { createCompatibleModel } from "../compatible-model.ts";
import { LOCAL_PRESETS, MODEL_NAMES } from "../model-names.ts";
import { successResponse } from "../model-response.ts";
import { firstFilled, notConfigured, type ProviderFactory } from "../provider.ts";

export const createLocalModel: ProviderFactory<"local"> = async (config) => {
  const preset = LOCAL_PRESETS[config.preset ?? "ollama"];
  const name = MODEL_NAMES.local(config);
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
