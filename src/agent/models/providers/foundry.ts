import { z } from "zod";
import { problem } from "../../../base/problems/problem.ts";
import { azureCredentials } from "./cli-tokens.ts";
import {
  defineProvider,
  FOUNDRY_LOCAL,
  loadPackage,
  notConfigured,
  type ProviderContext,
  type ReadyModel,
  text,
  url,
} from "./define-provider.ts";
import { createCompatibleModel, withoutEndSlash } from "./model-fetch.ts";

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
  create: async (settings, context) => {
    const { mode, temperature } = settings;
    const ready = await (mode === "cloud" ? createCloud(settings, context) : createLocal(context));
    return temperature === undefined ? ready : { ...ready, temperature };
  },
});

/** Downloads and loads the model if needed, and starts the service. */
async function createLocal(context: ProviderContext): Promise<ReadyModel> {
  const { name, model: alias, importFoundryLocal } = context;
  const module = await loadPackage(
    FOUNDRY_LOCAL,
    "The provider foundry in its local mode",
    importFoundryLocal,
  );
  const { FoundryLocalManager } = module as FoundryLocalModule;
  const manager = await FoundryLocalManager.createAsync({ appName: "keyhole" });
  const loaded = await loadModel(manager, alias).catch(() => {
    throw problem("MODEL_NOT_FOUND", {
      name: "Foundry Local",
      reason: `the model ${alias} could not be loaded.`,
    });
  });
  if (!manager.isWebServiceRunning) manager.startWebService();
  const [address] = manager.urls;
  if (address === undefined) throw notConfigured(name, "the service of Foundry Local did not start.");
  const baseUrl = new URL("/v1", address).href;
  const model = await createCompatibleModel({ baseUrl }, { ...context, model: loaded.id });
  return { model, secrets: () => [] };
}

async function createCloud(
  { projectEndpoint, apiKey }: z.infer<typeof config>,
  context: ProviderContext,
): Promise<ReadyModel> {
  if (!projectEndpoint) {
    throw notConfigured(context.name, "set providers.foundry.projectEndpoint, the address of the project.");
  }
  const keys = "providers.foundry.apiKey or AZURE_FOUNDRY_API_KEY";
  const { token, secrets } = await azureCredentials(apiKey, { resource: RESOURCE, keys }, context);
  const server = {
    baseUrl: `${withoutEndSlash(projectEndpoint)}/openai/v1`,
    ...(apiKey ? { headers: { "api-key": apiKey } } : { apiKey: token }),
  };
  const model = await createCompatibleModel(server, context);
  return { model, secrets };
}

/** The part of Foundry Local's SDK that Keyhole calls. */
interface FoundryLocalModule {
  readonly FoundryLocalManager: {
    createAsync(config: { readonly appName: string }): Promise<FoundryManager>;
  };
}

interface FoundryManager {
  readonly catalog: { getModel(alias: string): Promise<FoundryModel> };
  readonly isWebServiceRunning: boolean;
  startWebService(): void;
  readonly urls: readonly string[];
}

interface FoundryModel {
  readonly id: string;
  readonly isCached: boolean;
  isLoaded(): Promise<boolean>;
  download(): Promise<void>;
  load(): Promise<void>;
}

async function loadModel(manager: FoundryManager, alias: string): Promise<FoundryModel> {
  const model = await manager.catalog.getModel(alias);
  if (!model.isCached) await model.download();
  if (!(await model.isLoaded())) await model.load();
  return model;
}
