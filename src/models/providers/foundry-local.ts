import { loadPackage } from "../load-package.ts";
import { errorResponse, type ModelResponse, successResponse } from "../model-response.ts";
import { FOUNDRY_LOCAL, notConfigured } from "../provider.ts";

/** The part of Foundry Local's SDK that is used. */
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

/** Loads the model of that alias, which may have to be downloaded first, and says where it is served. */
export async function startFoundryLocal(
  alias: string,
  importModule: () => Promise<unknown>,
): Promise<ModelResponse<{ baseUrl: string; model: string }>> {
  const module = await loadPackage(FOUNDRY_LOCAL, "The provider foundry in its local mode", importModule);
  const { FoundryLocalManager } = module as FoundryLocalModule;
  const manager = await FoundryLocalManager.createAsync({ appName: "keyhole" });
  const model = await prepare(manager, alias).catch(() => undefined);
  if (!model) {
    return errorResponse(
      "MODEL_NOT_FOUND",
      `Foundry Local could not load the model ${alias}. Check modelAlias.`,
    );
  }
  if (!manager.isWebServiceRunning) manager.startWebService();
  const url = manager.urls[0];
  if (url === undefined) return notConfigured("foundry", "the service of Foundry Local did not start.");
  return successResponse({ baseUrl: new URL("/v1", url).href, model: model.id }, `${alias} is loaded.`);
}

async function prepare(manager: Manager, alias: string): Promise<LocalModel> {
  const model = await manager.catalog.getModel(alias);
  if (!model.isCached) await model.download();
  if (!(await model.isLoaded())) await model.load();
  return model;
}
