import { createModel } from "./create-model.ts";
import type { Callee } from "./model-calls.ts";
import { DEFAULT_PROVIDER, type ModelsConfig } from "./models-config.ts";
import type { ModelResponse } from "./providers/model-response.ts";
import type { ProviderHost } from "./providers/provider-host.ts";

/** The model that a config names now. */
export interface ConfiguredModel {
  provider(): string;
  /** The provider's part of the config. */
  part(): unknown;
  /** Makes the model at the first call and keeps it until its config changes. A failed attempt is not kept. */
  callee(): Promise<ModelResponse<Callee>>;
}

export function createConfiguredModel(configNow: () => ModelsConfig, host: ProviderHost): ConfiguredModel {
  let kept: { readonly key: string; readonly making: Promise<ModelResponse<Callee>> } | undefined;
  const provider = () => configNow().providers?.default ?? DEFAULT_PROVIDER;
  const idleMs = () => configNow().idleTimeoutMs ?? host.idleMs;

  function part(): unknown {
    const providers: Readonly<Record<string, unknown>> = configNow().providers ?? {};
    return Object.hasOwn(providers, provider()) ? providers[provider()] : undefined;
  }

  async function make(): Promise<ModelResponse<Callee>> {
    const name = provider();
    const made = await createModel(name, part(), { ...host, idleMs: idleMs() });
    if (!made.success) return made;
    return { ...made, result: { ...made.result, provider: name, now: host.clock.now } };
  }

  return {
    provider,
    part,
    callee: async () => {
      const key = JSON.stringify([provider(), part(), idleMs()]);
      if (kept?.key !== key) kept = { key, making: make() };
      const mine = kept;
      const made = await mine.making;
      if (!made.success && kept === mine) kept = undefined;
      return made;
    },
  };
}
