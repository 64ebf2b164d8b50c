import { z } from "zod";
import { azureCliTokens } from "./cli-tokens.ts";
import { createCompatibleModel } from "./compatible-model.ts";
import { text, url, withoutEndSlash } from "./config-fields.ts";
import { defineProvider, notConfigured, type ProviderContext, type ReadyModel } from "./define-provider.ts";
import { startFoundryLocal } from "./foundry-local.ts";
import { type ModelResponse, successResponse } from "./model-response.ts";

const RESOURCE = "https://ai.azure.com";

const config = z.strictObject({
  mode: z.enum(["local", "cloud"]).optional(),
  modelAlias: text,
  temperature: z.number().min(0).max(2).optional(),
  projectEndpoint: url,
  modelDeployment: text,
  apiKey: text,
});

export const foundry = defineProvider({
  config,
  env: { apiKey: ["AZURE_FOUNDRY_API_KEY"] },
  modelField: ({ mode }) => (mode === "cloud" ? "modelDeployment" : "modelAlias"),
  defaultModel: ({ mode }) => (mode === "cloud" ? "gpt-4o" : "phi-4"),
  serverUrl: ({ mode, projectEndpoint }) => (mode === "cloud" ? projectEndpoint : undefined),
  telemetryName: "azure.ai.inference",
  package: "@ai-sdk/openai-compatible",
  create: async (given, context) => {
    const ready = given.mode === "cloud" ? await createCloud(given, context) : await createLocal(context);
    if (!ready.success || given.temperature === undefined) return ready;
    return { ...ready, result: { ...ready.result, temperature: given.temperature } };
  },
});

async function createLocal(context: ProviderContext): Promise<ModelResponse<ReadyModel>> {
  const { name, model: alias, importFoundryLocal } = context;
  const started = await startFoundryLocal(alias, importFoundryLocal);
  if (!started.success) return started;
  const { baseUrl, model: id } = started.result;
  if (baseUrl === undefined) return notConfigured(name, "the service of Foundry Local did not start.");
  const model = await createCompatibleModel({ baseUrl }, { ...context, model: id });
  return successResponse({ model, secrets: () => [] }, `${alias} is ready in Foundry Local.`);
}

async function createCloud(
  { projectEndpoint, apiKey }: z.infer<typeof config>,
  context: ProviderContext,
): Promise<ModelResponse<ReadyModel>> {
  if (!projectEndpoint) {
    return notConfigured(context.name, "set providers.foundry.projectEndpoint, the address of the project.");
  }
  const tokens = azureCliTokens(RESOURCE, context);
  if (!apiKey && !(await tokens.current())) {
    return notConfigured(
      context.name,
      "set providers.foundry.apiKey or AZURE_FOUNDRY_API_KEY, or log in with the Azure CLI (az login).",
    );
  }
  const server = {
    baseUrl: `${withoutEndSlash(projectEndpoint)}/openai/v1`,
    ...(apiKey ? { headers: { "api-key": apiKey } } : { apiKey: tokens.required }),
  };
  const model = await createCompatibleModel(server, context);
  const secrets = () => (apiKey ? [apiKey] : [...tokens.issued]);
  return successResponse({ model, secrets }, `The deployment ${context.model} in Azure AI Foundry is ready.`);
}
