import { modelPath } from "../config/env-settings.ts";
import type { LoadedSettings } from "../config/load-settings.ts";
import type { Settings } from "../config/settings-schema.ts";
import { isProviderSupported, PROVIDERS, unknownProvider } from "../models/providers/providers.ts";
import { problem } from "../schema/problem.ts";

/** The same providers, with another model for the one in use. */
export function withModel(providers: Settings["providers"], model: string): Settings["providers"] {
  const [provider, field] = modelPath(providers);
  return { ...providers, [provider]: { ...providers[providers.default], [field]: model } };
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
