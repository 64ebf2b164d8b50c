import { modelPath } from "../config/env-settings.ts";
import type { Settings } from "../config/settings-schema.ts";
import { isProviderSupported, PROVIDERS } from "../models/providers/providers.ts";

/** The same providers, with another model for the one in use. */
export function withModel(providers: Settings["providers"], model: string): Settings["providers"] {
  const [provider, field] = modelPath(providers);
  return { ...providers, [provider]: { ...providers[providers.default], [field]: model } };
}

/** A provider's name by OpenTelemetry's conventions. */
export function telemetryName(provider: string): string {
  return isProviderSupported(provider) ? PROVIDERS[provider].telemetryName : provider;
}
