import { z } from "zod";
import { azureCliTokens } from "./cli-tokens.ts";
import { pathPart, text, url, withoutEndSlash } from "./config-fields.ts";
import { defineProvider, notConfigured } from "./define-provider.ts";
import { createModelFetch } from "./model-fetch.ts";
import { successResponse } from "./model-response.ts";

const RESOURCE = "https://cognitiveservices.azure.com";
/** Versions of the API that has no deployments in its paths. */
const UNIFIED = new Set(["v1", "preview", "latest"]);

export const azure = defineProvider({
  config: z.strictObject({ endpoint: url, deployment: pathPart, apiVersion: text, apiKey: text }),
  env: { apiKey: ["AZURE_OPENAI_API_KEY"], endpoint: ["AZURE_OPENAI_ENDPOINT"] },
  modelField: () => "deployment",
  serverUrl: ({ endpoint }) => endpoint,
  telemetryName: "azure.ai.openai",
  package: "@ai-sdk/azure",
  create: async ({ endpoint, apiVersion = "2024-06-01", apiKey }, context) => {
    const { name, model: deployment, load } = context;
    if (!endpoint) return notConfigured(name, "set providers.azure.endpoint, the address of the resource.");
    const tokens = azureCliTokens(RESOURCE, context);
    if (!apiKey && !(await tokens.current())) {
      return notConfigured(
        name,
        "set providers.azure.apiKey or AZURE_OPENAI_API_KEY, or log in with the Azure CLI (az login).",
      );
    }
    const { createAzure } = await load(() => import("@ai-sdk/azure"));
    const isUnified = UNIFIED.has(apiVersion);
    const root = withoutEndSlash(endpoint).replace(/\/openai(?:\/v1)?$/, "");
    const provider = createAzure({
      ...(apiKey ? { apiKey } : { tokenProvider: tokens.required }),
      baseURL: isUnified ? `${root}/openai/v1` : `${root}/openai`,
      apiVersion,
      useDeploymentBasedUrls: !isUnified,
      fetch: await createModelFetch(context, endpoint),
    });
    const model = isUnified ? provider.responses(deployment) : provider.chat(deployment);
    const secrets = () => (apiKey ? [apiKey] : [...tokens.issued]);
    return successResponse({ model, secrets }, `The deployment ${deployment} on Azure is ready.`);
  },
});
