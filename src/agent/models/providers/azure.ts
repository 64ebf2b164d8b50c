import { z } from "zod";
import { azureCredentials } from "./cli-tokens.ts";
import { defineProvider, notConfigured, pathPart, text, url } from "./define-provider.ts";
import { createModelFetch, withoutEndSlash } from "./model-fetch.ts";

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
    if (!endpoint) throw notConfigured(name, "set providers.azure.endpoint, the address of the resource.");
    const keys = "providers.azure.apiKey or AZURE_OPENAI_API_KEY";
    const { token, secrets } = await azureCredentials(apiKey, { resource: RESOURCE, keys }, context);
    const { createAzure } = await load(() => import("@ai-sdk/azure"));
    const isUnified = UNIFIED.has(apiVersion);
    const root = withoutEndSlash(endpoint).replace(/\/openai(?:\/v1)?$/, "");
    const provider = createAzure({
      ...(apiKey ? { apiKey } : { tokenProvider: token }),
      baseURL: isUnified ? `${root}/openai/v1` : `${root}/openai`,
      apiVersion,
      useDeploymentBasedUrls: !isUnified,
      fetch: await createModelFetch(context, endpoint),
    });
    return {
      model: isUnified ? provider.responses(deployment) : provider.chat(deployment),
      secrets,
    };
  },
});
