import { azureCliTokens } from "../cli-tokens.ts";
import { loadPackage } from "../load-package.ts";
import { createModelFetch } from "../model-fetch.ts";
import { MODEL_NAMES } from "../model-names.ts";
import { successResponse } from "../model-response.ts";
import { firstFilled, notConfigured, type ProviderFactory, withoutEndSlash } from "../provider.ts";

const RESOURCE = "https://cognitiveservices.azure.com";
/** Versions that name the API without deployments in its paths. */
const UNIFIED = new Set(["v1", "preview", "latest"]);

export const createAzureModel: ProviderFactory<"azure"> = async (config, surroundings) => {
  const endpoint = firstFilled(config.endpoint);
  const deployment = MODEL_NAMES.azure(config);
  if (!endpoint) return notConfigured("azure", "set providers.azure.endpoint, the address of the resource.");
  if (!deployment)
    return notConfigured("azure", "set providers.azure.deployment, the name of the deployment.");
  const apiKey = firstFilled(config.apiKey, surroundings.env.AZURE_OPENAI_API_KEY);
  const tokens = azureCliTokens(RESOURCE, surroundings);
  if (!apiKey && !(await tokens.current())) {
    return notConfigured(
      "azure",
      "set providers.azure.apiKey or AZURE_OPENAI_API_KEY, or log in with the Azure CLI (az login).",
    );
  }
  const { createAzure } = await loadPackage(
    "@ai-sdk/azure",
    "The provider azure",
    () => import("@ai-sdk/azure"),
  );
  const apiVersion = firstFilled(config.apiVersion) ?? "2024-06-01";
  const isUnified = UNIFIED.has(apiVersion);
  const root = withoutEndSlash(endpoint).replace(/\/openai(?:\/v1)?$/, "");
  const provider = createAzure({
    ...(apiKey ? { apiKey } : { tokenProvider: tokens.required }),
    baseURL: isUnified ? `${root}/openai/v1` : `${root}/openai`,
    apiVersion,
    useDeploymentBasedUrls: !isUnified,
    fetch: createModelFetch(endpoint),
  });
  const model = isUnified ? provider.responses(deployment) : provider.chat(deployment);
  const secrets = () => (apiKey ? [apiKey] : [...tokens.issued]);
  return successResponse({ model, secrets }, `The deployment ${deployment} on Azure is ready.`);
};
