import { createRedact } from "../util/redact.ts";
import {
  modelOf,
  notConfigured,
  type Provider,
  type ReadyModel,
  readProviderConfig,
} from "./providers/define-provider.ts";
import { loadPackage } from "./providers/load-package.ts";
import { failWith, type ModelResponse } from "./providers/model-response.ts";
import type { ProviderHost } from "./providers/provider-host.ts";
import { isProviderSupported, PROVIDERS, unknownProvider } from "./providers/providers.ts";
import { toErrorResponse } from "./to-error-response.ts";

/** Makes a provider's model from its part of a config. Never throws. */
export async function createModel(
  name: string,
  given: unknown,
  host: ProviderHost,
): Promise<ModelResponse<ReadyModel>> {
  if (!isProviderSupported(name)) {
    return failWith("PROVIDER_NOT_SUPPORTED", unknownProvider(name));
  }
  const provider: Provider = PROVIDERS[name];
  const parsed = readProviderConfig(provider, given, host.env);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    return notConfigured(name, `${faults.join("; ")}.`);
  }
  const config = parsed.data;
  const model = modelOf(provider, config);
  if (model === undefined) {
    return notConfigured(
      name,
      `set providers.${name}.${provider.modelField(config)}, the name of the model.`,
    );
  }
  const load = <T>(importPackage: () => Promise<T>) =>
    loadPackage(provider.package, `The provider ${name}`, importPackage);
  try {
    return await provider.create(config, { ...host, name, model, load });
  } catch (error) {
    const secrets = Object.values(config).filter((value) => typeof value === "string");
    return toErrorResponse(error, { provider: name, redact: createRedact(secrets), now: host.clock.now() });
  }
}

/** The address of the server that a provider's part of a config leads to. */
export function serverUrlOf(name: string, given: unknown, env: ProviderHost["env"]): string | undefined {
  if (!isProviderSupported(name)) return undefined;
  const provider: Provider = PROVIDERS[name];
  const parsed = readProviderConfig(provider, given, env);
  return parsed.success ? provider.serverUrl(parsed.data) : undefined;
}

/** The model that a provider's part of a config names, or its default; undefined if the part is invalid. */
export function modelNameOf(name: string, given: unknown): string | undefined {
  if (!isProviderSupported(name)) return undefined;
  const parsed = readProviderConfig(PROVIDERS[name], given, {});
  return parsed.success ? modelOf(PROVIDERS[name], parsed.data) : undefined;
}
