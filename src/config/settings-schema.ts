import { z } from "zod";

const text = z.string().max(4096);
const count = z.int().min(0);
const name = z.string().min(1).max(256);

const address = z
  .union([z.literal(""), z.url({ protocol: /^https?$/, error: "must be an http or https address" })])
  .refine((value) => !/^[^/]*\/\/[^/]*@/.test(value), "must not carry a user name or password");

const key = { apiKey: text.optional() };
const model = { model: text.optional() };

/** What each provider takes. The provider itself says what it cannot do without. */
const PROVIDERS = {
  openai: z.strictObject({
    ...key,
    ...model,
    baseUrl: address.optional(),
    api: z.enum(["responses", "chat"]).optional(),
  }),
  anthropic: z.strictObject({ ...key, ...model, baseUrl: address.optional() }),
  azure: z.strictObject({
    ...key,
    endpoint: address.optional(),
    deployment: text.optional(),
    apiVersion: text.optional(),
  }),
  foundry: z.strictObject({
    ...key,
    mode: z.enum(["local", "cloud"]).optional(),
    modelAlias: text.optional(),
    temperature: z.number().min(0).max(2).optional(),
    projectEndpoint: address.optional(),
    modelDeployment: text.optional(),
  }),
  gemini: z.strictObject({
    ...key,
    ...model,
    baseUrl: address.optional(),
    useVertexai: z.boolean().optional(),
  }),
  github: z.strictObject({
    ...model,
    token: text.optional(),
    endpoint: address.optional(),
    org: text.optional(),
  }),
  local: z.strictObject({
    ...key,
    ...model,
    preset: z.enum(["ollama", "lmstudio", "docker"]).optional(),
    baseUrl: address.optional(),
  }),
};

export type ProviderName = keyof typeof PROVIDERS;

export const PROVIDER_NAMES = Object.keys(PROVIDERS) as [ProviderName, ...ProviderName[]];

const rules = z
  .array(z.string().min(1).max(12_000))
  .max(2000)
  .optional()
  .describe("Rules written as scope(pattern), such as fs-write(src/**)");

/** One settings file, or what the environment says: everything in it may be left out. */
export const settingsFileSchema = z.strictObject({
  $schema: text.optional(),
  providers: z
    .strictObject({
      default: z.enum(PROVIDER_NAMES).optional().describe("Which provider is used"),
      ...(Object.fromEntries(
        Object.entries(PROVIDERS).map(([provider, schema]) => [provider, schema.optional()]),
      ) as { [Name in ProviderName]: z.ZodOptional<(typeof PROVIDERS)[Name]> }),
    })
    .optional(),
  agent: z
    .strictObject({
      mode: z
        .enum(["discover", "fixed"])
        .optional()
        .describe("Tools that were found are bound as tools, or always the same few"),
      systemPrompt: z.string().max(100_000).optional(),
      temperature: z.number().min(0).max(2).optional(),
      maxTokens: count.optional().describe("Tokens of one run, input and output"),
      maxSteps: count.optional().describe("Calls of the model in one run"),
      dataDir: text.optional().describe("Where sessions and large results are kept"),
    })
    .optional(),
  retry: z
    .strictObject({
      enabled: z.boolean().optional(),
      maxRetries: count.max(20).optional(),
      baseDelayMs: count.optional(),
      maxDelayMs: count.optional(),
      enableJitter: z.boolean().optional(),
    })
    .optional(),
  skills: z
    .strictObject({
      enabled: z.array(name).optional().describe("Only these; without it, all that are found"),
      disabled: z.array(name).optional(),
      places: z.array(text).optional().describe("Folders beside the usual ones"),
      maxSkills: count.optional(),
    })
    .optional(),
  permissions: z.strictObject({ allow: rules, ask: rules, deny: rules }).optional(),
  telemetry: z
    .strictObject({
      enabled: z.boolean().optional(),
      endpoint: address.optional().describe("OTLP over HTTP, without /v1/traces"),
      headers: z.record(name, text).optional(),
      arguments: z
        .boolean()
        .optional()
        .describe("Sends what was asked, called and answered, not only that it was"),
    })
    .optional(),
  session: z.strictObject({ keep: z.boolean().optional(), maxAgeDays: count.optional() }).optional(),
  memory: z.strictObject({ enabled: z.boolean().optional(), maxTokens: count.optional() }).optional(),
  mcpServers: z
    .record(name, z.looseObject({ command: text.optional(), url: text.optional() }))
    .optional()
    .describe("Servers as other MCP clients have them"),
  trustedFolders: z
    .array(text)
    .optional()
    .describe("Projects in these folders may set everything; read from the user's own file only"),
});

export type SettingsFile = z.infer<typeof settingsFileSchema>;

export interface PermissionLists {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

type Section<Name extends keyof SettingsFile> = NonNullable<SettingsFile[Name]>;

/** What holds where no file and no variable says otherwise. */
export const DEFAULT_SETTINGS = {
  providers: { default: "openai" },
  agent: { mode: "discover", maxSteps: 50 },
  retry: { enabled: true, maxRetries: 3, baseDelayMs: 1000, maxDelayMs: 10_000, enableJitter: true },
  skills: { disabled: [], places: [], maxSkills: 20 },
  telemetry: { enabled: false, endpoint: "http://localhost:4318", headers: {}, arguments: false },
  session: { keep: true, maxAgeDays: 30 },
  memory: { enabled: true },
  mcpServers: {},
  trustedFolders: [],
} as const satisfies SettingsFile;

type Defaulted<Name extends keyof typeof DEFAULT_SETTINGS> = Section<Name> &
  Required<Pick<Section<Name>, keyof (typeof DEFAULT_SETTINGS)[Name] & keyof Section<Name>>>;

/** All settings, as the agent reads them. */
export interface Settings {
  readonly providers: Defaulted<"providers">;
  readonly agent: Defaulted<"agent">;
  readonly retry: Required<Section<"retry">>;
  readonly skills: Defaulted<"skills">;
  /** By whose they are: the project's are asked first, and a deny of either holds. */
  readonly permissions: { readonly user: PermissionLists; readonly project: PermissionLists };
  readonly telemetry: Required<Section<"telemetry">>;
  readonly session: Required<Section<"session">>;
  readonly memory: Defaulted<"memory">;
  readonly mcpServers: Section<"mcpServers">;
  readonly trustedFolders: readonly string[];
}
