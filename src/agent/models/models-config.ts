import { z } from "zod";
import type { Provider } from "./providers/define-provider.ts";
import {
  isProviderSupported,
  PROVIDERS,
  type ProviderConfig,
  type ProviderName,
} from "./providers/providers.ts";

export const DEFAULT_PROVIDER: ProviderName = "openai";

export const providerFields = Object.fromEntries(
  Object.entries(PROVIDERS).map(([name, { config }]) => [name, config.optional()]),
) as { [Name in ProviderName]: z.ZodOptional<(typeof PROVIDERS)[Name]["config"]> };

export const providerNameSchema = z.enum(Object.keys(PROVIDERS) as [ProviderName, ...ProviderName[]]);

/** The `providers` of a config: the one in use, and the fields of each. */
export const providersConfigSchema = z.strictObject({
  default: providerNameSchema.default(DEFAULT_PROVIDER),
  ...providerFields,
});

/** The `providers` of merged settings: the provider in use is known. */
export type ProviderSettings = z.input<typeof providersConfigSchema> & { readonly default: ProviderName };

/** The provider in use and its field that names the model. */
export function modelPath(providers: ProviderSettings): [provider: string, field: string] {
  const name = providers.default;
  if (!isProviderSupported(name)) return [name, "model"];
  const provider: Provider = PROVIDERS[name];
  return [name, provider.modelField(providers[name] ?? {})];
}

export const retryConfigSchema = z.strictObject({
  enabled: z.boolean().default(true),
  maxRetries: z.int().min(0).max(20).default(3),
  baseDelayMs: z.number().min(0).default(1000),
  maxDelayMs: z.number().min(0).default(10_000),
  enableJitter: z.boolean().default(true),
  overloadMs: z.number().min(0).default(0),
});

/** How failed calls are retried. */
export type RetryConfig = z.infer<typeof retryConfigSchema>;

/** The part of a config that models are made from. A provider's own part is checked at its first call. */
export interface ModelsConfig {
  readonly providers?: { readonly default?: string } & {
    readonly [Name in ProviderName]?: ProviderConfig<Name>;
  };
  readonly retry?: Partial<RetryConfig>;
  /** A request fails with TIMEOUT if the server sends nothing for so long. Default: 300,000. */
  readonly idleTimeoutMs?: number;
}
