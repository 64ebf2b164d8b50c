import { loadPackage } from "./load-package.ts";
import { failWith, type ModelResponse, successResponse } from "./model-response.ts";
import { FOUNDRY_LOCAL } from "./provider-host.ts";

/** The part of Foundry Local's SDK that Keyhole calls. */
interface FoundryLocalModule {
  readonly FoundryLocalManager: {
    createAsync(config: { readonly appName: string }): Promise<Manager>;
  };
}

interface Manager {
  readonly catalog: { getModel(alias: string): Promise<LocalModel> };
  readonly isWebServiceRunning: boolean;
  startWebService(): void;
  readonly urls: readonly string[];
}

interface LocalModel {
  readonly id: string;
  readonly isCached: boolean;
  isLoaded(): Promise<boolean>;
  download(): Promise<void>;
  load(): Promise<void>;
}

/** Downloads and loads the model if needed, starts the service, and returns its address if it came up. */
export async function startFoundryLocal(
  alias: string,
  importModule: () => Promise<unknown>,
): Promise<ModelResponse<{ baseUrl: string | undefined; model: string }>> {
  const module = await loadPackage(FOUNDRY_LOCAL, "The provider foundry in its local mode", importModule);
  const { FoundryLocalManager } = module as FoundryLocalModule;
  const manager = await FoundryLocalManager.createAsync({ appName: "keyhole" });
  const model = await prepare(manager, alias).catch(() => undefined);
  if (!model) {
    return failWith("MODEL_NOT_FOUND", {
      name: "Foundry Local",
      reason: `the model ${alias} could not be loaded.`,
    });
  }
  if (!manager.isWebServiceRunning) manager.startWebService();
  const url = manager.urls[0];
  const baseUrl = url === undefined ? undefined : new URL("/v1", url).href;
  return successResponse({ baseUrl, model: model.id }, `${alias} is loaded.`);
}

async function prepare(manager: Manager, alias: string): Promise<LocalModel> {
  const model = await manager.catalog.getModel(alias);
  if (!model.isCached) await model.download();
  if (!(await model.isLoaded())) await model.load();
  return model;
}
