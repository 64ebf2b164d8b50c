import { z } from "zod";

// An empty text counts as not set wherever a config may leave a field out.
const text = z.string().max(4096).optional();
// It becomes a part of a path.
const pathPart = z
  .string()
  .max(256)
  .regex(/^[\w.-]*$/, "may have letters, digits, dots, dashes and underscores only")
  .optional();
const url = z
  .union([z.literal(""), z.url({ protocol: /^https?$/, error: "must be an http or https address" })])
  .refine((value) => !/^[^/]*\/\/[^/]*@/.test(value), "must not carry a user name or password")
  .optional();

export const openaiConfigSchema = z.strictObject({
  apiKey: text,
  model: text,
  baseUrl: url,
  /** Which of the vendor's APIs; other servers at `baseUrl` mostly have `chat` only, so it is the default there. */
  api: z.enum(["responses", "chat"]).optional(),
});

export const anthropicConfigSchema = z.strictObject({ apiKey: text, model: text, baseUrl: url });

export const azureConfigSchema = z.strictObject({
  endpoint: url,
  deployment: pathPart,
  apiVersion: text,
  apiKey: text,
});

export const foundryConfigSchema = z.strictObject({
  mode: z.enum(["local", "cloud"]).optional(),
  modelAlias: text,
  temperature: z.number().min(0).max(2).optional(),
  projectEndpoint: url,
  modelDeployment: text,
  apiKey: text,
});

export const geminiConfigSchema = z.strictObject({
  apiKey: text,
  model: text,
  baseUrl: url,
  useVertexai: z.boolean().optional(),
});

export const githubConfigSchema = z.strictObject({ token: text, model: text, endpoint: url, org: pathPart });

export const localConfigSchema = z.strictObject({
  preset: z.enum(["ollama", "lmstudio", "docker"]).optional(),
  baseUrl: url,
  model: text,
  apiKey: text,
});

export const PROVIDER_SCHEMAS = {
  openai: openaiConfigSchema,
  anthropic: anthropicConfigSchema,
  azure: azureConfigSchema,
  foundry: foundryConfigSchema,
  gemini: geminiConfigSchema,
  github: githubConfigSchema,
  local: localConfigSchema,
};

export type ProviderName = keyof typeof PROVIDER_SCHEMAS;

export type ProviderConfig<Name extends ProviderName> = z.infer<(typeof PROVIDER_SCHEMAS)[Name]>;

export const DEFAULT_PROVIDER: ProviderName = "openai";

/** The `providers` of a config: which one is used, and what each needs. */
export const providersConfigSchema = z.strictObject({
  default: z
    .enum(Object.keys(PROVIDER_SCHEMAS) as [ProviderName, ...ProviderName[]])
    .default(DEFAULT_PROVIDER),
  openai: openaiConfigSchema.optional(),
  anthropic: anthropicConfigSchema.optional(),
  azure: azureConfigSchema.optional(),
  foundry: foundryConfigSchema.optional(),
  gemini: geminiConfigSchema.optional(),
  github: githubConfigSchema.optional(),
  local: localConfigSchema.optional(),
});

/** The `retry` of a config. */
export const retryConfigSchema = z.strictObject({
  enabled: z.boolean().default(true),
  maxRetries: z.int().min(0).max(20).default(3),
  baseDelayMs: z.number().min(0).default(1000),
  maxDelayMs: z.number().min(0).default(10_000),
  enableJitter: z.boolean().default(true),
});

export type RetryConfig = z.infer<typeof retryConfigSchema>;

/** The part of a config that models are made from. Each provider's own part is checked when it is used. */
export interface ModelsConfig {
  readonly providers?: { readonly default?: string } & {
    readonly [Name in ProviderName]?: ProviderConfig<Name>;
  };
  readonly retry?: Partial<RetryConfig>;
}
