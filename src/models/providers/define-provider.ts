import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { z } from "zod";
import type { ModelListing } from "./model-listing.ts";
import { failWith, type ModelErrorResponse, type ModelResponse } from "./model-response.ts";
import type { ProviderHost } from "./provider-host.ts";

/** Everything Keyhole knows about a provider. A new one is a file like this and a row of {@link PROVIDERS}. */
export interface Provider<Schema extends z.ZodObject = z.ZodObject> {
  /** The provider's part of a config. */
  readonly config: Schema;
  /** Variables that fill a field, the preferred one first. */
  readonly env: { readonly [Field in keyof z.output<Schema>]?: readonly string[] };
  /** The field that names the model, which may depend on the provider's mode. */
  modelField(config: z.output<Schema>): keyof z.output<Schema> & string;
  /** The model when the config names none. Without it, the config must name one. */
  defaultModel?(config: z.output<Schema>): string | undefined;
  /** The address of the server; undefined where it is known only once the server runs. */
  serverUrl(config: z.output<Schema>): string | undefined;
  /** The provider's own list of models; undefined if the config has no key for it. */
  listing?(config: z.output<Schema>): ModelListing | undefined;
  /** `gen_ai.provider.name` by OpenTelemetry's conventions. */
  readonly telemetryName: string;
  /** The AI SDK package that users install. */
  readonly package: string;
  /** Makes the model. The config has no empty texts, and variables have filled its gaps. May throw. */
  create(config: z.output<Schema>, context: ProviderContext): Promise<ModelResponse<ReadyModel>>;
}

export interface ProviderContext extends ProviderHost {
  /** The provider's name in the config. */
  readonly name: string;
  readonly model: string;
  /** Loads the provider's package; if it is missing, the problem says how to install it. */
  load<T>(importPackage: () => Promise<T>): Promise<T>;
}

/** A model that can be called. */
export interface ReadyModel {
  readonly model: LanguageModelV4;
  /** Texts that must not appear in any message. */
  readonly secrets: () => readonly string[];
  /** For calls without a temperature of their own. */
  readonly temperature?: number;
}

export function defineProvider<Schema extends z.ZodObject>(provider: Provider<Schema>): Provider<Schema> {
  return provider;
}

/** Checks a provider's part of a config, after it drops empty texts and fills gaps from variables. */
export function readProviderConfig(provider: Provider, given: unknown, env: ProviderHost["env"]) {
  if (given !== undefined && (typeof given !== "object" || given === null))
    return provider.config.safeParse(given);
  const fields = new Map<string, unknown>();
  for (const [field, value] of Object.entries(given ?? {})) {
    const kept = typeof value === "string" ? value.trim() : value;
    if (kept !== "") fields.set(field, kept);
  }
  for (const [field, variables] of Object.entries<readonly string[] | undefined>(provider.env)) {
    const value = variables?.map((name) => env[name]?.trim()).find(Boolean);
    if (value && fields.get(field) === undefined) fields.set(field, value);
  }
  return provider.config.safeParse(Object.fromEntries(fields));
}

/** The model that a checked config names, or the provider's default. */
export function modelOf(provider: Provider, config: Readonly<Record<string, unknown>>): string | undefined {
  const named = config[provider.modelField(config)];
  return typeof named === "string" ? named : provider.defaultModel?.(config);
}

export function notConfigured(provider: string, reason: string): ModelErrorResponse {
  return failWith("PROVIDER_NOT_CONFIGURED", { name: provider, reason });
}
