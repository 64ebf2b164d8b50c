import { modelPath } from "../config/env-settings.ts";
import type { LoadedSettings } from "../config/load-settings.ts";
import type { Settings } from "../config/settings-schema.ts";
import {
  getSupportedProviders,
  isProviderSupported,
  PROVIDERS,
  type ProviderName,
  unknownProvider,
} from "../models/providers/providers.ts";
import { problem } from "../schema/problem.ts";
import { nearest } from "../util/nearest.ts";

/** The same providers, with another model for the one in use. */
export function withModel(providers: Settings["providers"], model: string): Settings["providers"] {
  const [provider, field] = modelPath(providers);
  return { ...providers, [provider]: { ...providers[providers.default], [field]: model } };
}

/**
 * The providers with another one in use, if the name has it in front (`anthropic/claude-sonnet-5`), and the model.
 *
 * @throws PROVIDER_NOT_SUPPORTED for a name whose provider does not exist, unless the one in use takes such names.
 */
export function chooseProvider(
  providers: Settings["providers"],
  name: string,
): [providers: Settings["providers"], model: string] {
  const [first = "", ...rest] = name.split("/");
  if (rest.length === 0) return [providers, name];
  if (isProviderSupported(first)) return [{ ...providers, default: first }, rest.join("/")];
  // Local and compatible servers name models with a slash.
  if (nearest(first, getSupportedProviders(), 1).length === 0) return [providers, name];
  throw problem("PROVIDER_NOT_SUPPORTED", unknownProvider(first));
}

/** The providers that have a key, in the settings or in a variable. */
export function providersWithKeys(
  providers: Settings["providers"],
  env: NodeJS.ProcessEnv = process.env,
): ProviderName[] {
  return getSupportedProviders().filter((name) => {
    const { apiKey = [] } = PROVIDERS[name].env as { readonly apiKey?: readonly string[] };
    const given = (providers[name] as { readonly apiKey?: string } | undefined)?.apiKey;
    return Boolean(given?.trim()) || apiKey.some((variable) => env[variable]?.trim());
  });
}

/** A provider's name by OpenTelemetry's conventions. */
export function telemetryName(provider: string): string {
  return isProviderSupported(provider) ? PROVIDERS[provider].telemetryName : provider;
}

/**
 * Makes sure that a prompt goes to no other provider than the one that the person meant.
 *
 * @throws PROVIDER_NOT_SUPPORTED for a provider that does not exist; the problem of a settings file that cannot be
 *   read, unless the command line or a variable names the provider.
 */
export function refuseFallback(
  { sources, problems, trusted }: Pick<LoadedSettings, "sources" | "problems" | "trusted">,
  { provider }: { readonly provider?: string | undefined },
  env: NodeJS.ProcessEnv = process.env,
): void {
  const named = (provider ?? env.KEYHOLE_PROVIDER ?? "").trim();
  if (named !== "" && !isProviderSupported(named))
    throw problem("PROVIDER_NOT_SUPPORTED", unknownProvider(named));
  // The file of a folder that nobody has trusted chooses no provider.
  const choosing = sources.filter(({ from }) => from === "user" || (from === "project" && trusted));
  const unread = choosing.find(({ state }) => state === "ignored");
  if (named !== "" || !unread) return;
  throw problems.find(({ details }) => details.file === unread.path) ?? problems[0];
}
