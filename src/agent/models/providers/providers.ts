import type { z } from "zod";
import { nearest } from "../../../base/util/nearest.ts";
import { anthropic } from "./anthropic.ts";
import { azure } from "./azure.ts";
import { custom } from "./custom.ts";
import type { Provider } from "./define-provider.ts";
import { foundry } from "./foundry.ts";
import { gemini } from "./gemini.ts";
import { github } from "./github.ts";
import { local } from "./local.ts";
import { openai } from "./openai.ts";

/** Every provider by its name in the config. Settings, variables, docs and telemetry are derived from it. */
export const PROVIDERS = {
  openai,
  anthropic,
  azure,
  foundry,
  gemini,
  github,
  local,
  custom,
} satisfies Record<string, Provider>;

/** A provider by its name in the config. */
export type ProviderName = keyof typeof PROVIDERS;

/** A provider's part of the config. */
export type ProviderConfig<Name extends ProviderName> = z.infer<(typeof PROVIDERS)[Name]["config"]>;

/**
 * The names of all providers.
 *
 * @example
 * ```ts
 * import { getSupportedProviders } from "keyhole/models";
 *
 * console.assert(getSupportedProviders().includes("anthropic"));
 * ```
 */
export function getSupportedProviders(): ProviderName[] {
  return Object.keys(PROVIDERS) as ProviderName[];
}

/** The words of PROVIDER_NOT_SUPPORTED: the name, the nearest provider, and all providers. */
export function unknownProvider(name: string): { name: string; hint: string; known: string } {
  const known = getSupportedProviders();
  const [near] = nearest(name, known, 1);
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  return { name: name.slice(0, 100), hint, known: known.join(", ") };
}

/**
 * Whether Keyhole has a provider of that name. See {@link getSupportedProviders}.
 *
 * @example
 * ```ts
 * import { isProviderSupported } from "keyhole/models";
 *
 * console.assert(isProviderSupported("gemini"));
 * ```
 */
export function isProviderSupported(name: string): name is ProviderName {
  return Object.hasOwn(PROVIDERS, name);
}
