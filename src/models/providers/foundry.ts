import type { ProviderConfig } from "../../schema/models-config.ts";
import { azureCliTokens } from "../cli-tokens.ts";
import { createCompatibleModel } from "../compatible-model.ts";
import { MODEL_NAMES } from "../model-names.ts";
import { type ModelResponse, successResponse } from "../model-response.ts";
import {
  firstFilled,
  notConfigured,
  type ProviderFactory,
  type ReadyModel,
  type Surroundings,
  withoutEndSlash,
} from "../provider.ts";
import { startFoundryLocal } from "./foundry-local.ts";

const RESOURCE = "https://ai.azure.com";

export const createFoundryModel: ProviderFactory<"foundry"> = async (config, surroundings) => {
  const ready =
    config.mode === "cloud"
      ? await createCloud(config, surroundings)
      : await createLocal(config, surroundings);
  if (!ready.success || config.temperature === undefined) return ready;
  return { ...ready, result: { ...ready.result, temperature: config.temperature } };
};

type Config = ProviderConfig<"foundry">;

async function createLocal(config: Config, surroundings: Surroundings): Promise<ModelResponse<ReadyModel>> {
  const alias = MODEL_NAMES.foundry(config);
  const started = await startFoundryLocal(alias, surroundings.importFoundryLocal);
  if (!started.success) return started;
  const { baseUrl, model: name } = started.result;
  const model = await createCompatibleModel({ provider: "foundry", baseUrl, model: name });
  return successResponse({ model, secrets: () => [] }, `${alias} is ready in Foundry Local.`);
}

async function createCloud(config: Config, surroundings: Surroundings): Promise<ModelResponse<ReadyModel>> {
  const endpoint = firstFilled(config.projectEndpoint);
  if (!endpoint) {
    return notConfigured("foundry", "set providers.foundry.projectEndpoint, the address of the project.");
  }
  const apiKey = firstFilled(config.apiKey, surroundings.env.AZURE_FOUNDRY_API_KEY);
  const tokens = azureCliTokens(RESOURCE, surroundings);
  if (!apiKey && !(await tokens.current())) {
    return notConfigured(
      "foundry",
      "set providers.foundry.apiKey or AZURE_FOUNDRY_API_KEY, or log in with the Azure CLI (az login).",
    );
  }
  const name = MODEL_NAMES.foundry(config);
  const model = await createCompatibleModel({
    provider: "foundry",
    baseUrl: `${withoutEndSlash(endpoint)}/openai/v1`,
    model: name,
    ...(apiKey ? { headers: { "api-key": apiKey } } : { apiKey: tokens.required }),
  });
  const secrets = () => (apiKey ? [apiKey] : [...tokens.issued]);
  return successResponse({ model, secrets }, `The deployment ${name} in Azure AI Foundry is ready.`);
}
