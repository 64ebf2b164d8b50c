import { z } from "zod";
import {
  DEFAULT_PROVIDER,
  providerFields,
  providerNameSchema,
  retryConfigSchema,
} from "../models/models-config.ts";
import { LOG_LEVELS } from "../telemetry/log-line.ts";

const text = z.string().max(4096);
const count = z.int().min(0);
const name = z.string().min(1).max(256);

const address = z
  .union([z.literal(""), z.url({ protocol: /^https?$/, error: "must be an http or https address" })])
  .refine((value) => !/^[^/]*\/\/[^/]*@/.test(value), "must not carry a user name or password");

const rules = z
  .array(z.string().min(1).max(12_000))
  .max(2000)
  .optional()
  .describe("Rules written as scope(pattern), such as fs-write(src/**)");

// Without the defaults: what one file leaves out may stand in another.
const retry = retryConfigSchema.shape;

/** One settings file, or what the environment says: everything in it may be left out. */
export const settingsFileSchema = z.strictObject({
  $schema: text.optional(),
  providers: z
    .strictObject({
      default: providerNameSchema.optional().describe("The provider in use"),
      ...providerFields,
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
      enabled: retry.enabled.unwrap().optional(),
      maxRetries: retry.maxRetries.unwrap().optional(),
      baseDelayMs: retry.baseDelayMs.unwrap().optional(),
      maxDelayMs: retry.maxDelayMs.unwrap().optional(),
      enableJitter: retry.enableJitter.unwrap().optional(),
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
  logging: z
    .strictObject({
      level: z.enum(LOG_LEVELS).optional().describe("The least grave events that a server tells on stderr"),
    })
    .optional(),
  session: z.strictObject({ keep: z.boolean().optional(), maxAgeDays: count.optional() }).optional(),
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
  providers: { default: DEFAULT_PROVIDER },
  agent: { mode: "discover", maxSteps: 50 },
  retry: retryConfigSchema.parse({}),
  skills: { disabled: [], places: [], maxSkills: 20 },
  telemetry: { enabled: false, endpoint: "http://localhost:4318", headers: {}, arguments: false },
  logging: { level: "info" },
  session: { keep: true, maxAgeDays: 30 },
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
  readonly logging: Required<Section<"logging">>;
  readonly session: Required<Section<"session">>;
  readonly mcpServers: Section<"mcpServers">;
  readonly trustedFolders: readonly string[];
}
