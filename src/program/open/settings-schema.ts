import { z } from "zod";
import {
  DEFAULT_PROVIDER,
  providerFields,
  providerNameSchema,
  retryConfigSchema,
} from "../../agent/models/models-config.ts";
import { DEFAULT_IDLE_MS, url } from "../../agent/models/providers/define-provider.ts";
import { secretsIn, secretsInArgs, secretsInFields } from "../../base/safety/secret-values.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import { LOG_LEVELS } from "../../core/telemetry/log-line.ts";
import { profileSchema, serverOverrideSchema } from "../../sources/mcp/config/overrides.ts";
import { CHANGES, sandboxSchema } from "../../sources/mcp/config/server-config.ts";
import { anyServerSchema } from "../../sources/servers/server-kinds.ts";

const text = z.string().max(4096);
const count = z.int().min(0);
const name = z.string().min(1).max(256);

const rules = z
  .array(z.string().min(1).max(12_000))
  .max(2000)
  .describe("Rules written as scope(pattern), such as fs-write(src/**)");

// Without the defaults, because another file may set what this one leaves out.
const retry = retryConfigSchema.shape;

/** A mistake in one server must not make the whole file wrong, so servers are checked one by one when they are used. */
const server = checkedLater(anyServerSchema);

function checkedLater(schema: z.ZodType) {
  const any = z.unknown();
  // Only the published schema needs the shape, and no start should wait for it.
  any._zod.toJSONSchema = () => {
    const { $schema: _, ...shape } = z.toJSONSchema(schema, { target: "draft-7", io: "input" });
    return shape;
  };
  return any;
}

/** Without TLS, anybody on the way could hand out keys of their own. */
const safeUrl = z
  .url()
  .refine(isSafe, "must be an https URL, or an http URL of this machine, without # and ?");

const groupSchema = z.strictObject({
  profile: name
    .optional()
    .describe("The profile that its people have, at every address; without it, all servers"),
  write: z.boolean().optional().describe("Whether its people may run tools that write (default: false)"),
  admin: z
    .boolean()
    .optional()
    .describe(
      "Whether its people run the gateway: they see all callers, approve and change servers (default: false)",
    ),
  scopes: z
    .array(name)
    .max(100)
    .optional()
    .describe("Scopes of its people, which servers and tools may need"),
});

/** The people who may use the gateway over HTTP, beside agents with keys: those of one OpenID Connect issuer. */
export const peopleSchema = z.strictObject({
  issuer: safeUrl.describe("The issuer, exactly as it names itself"),
  audience: safeUrl.describe(
    "The public URL of this gateway, such as https://tools.example.com/mcp: the aud of its tokens",
  ),
  groups: z
    .record(name, groupSchema)
    .refine((groups) => Object.keys(groups).length > 0, "must name a group")
    .describe("Rights by group, the first that somebody is in; * is for people in none of the others"),
  groupsClaim: name.optional().describe("The claim with the list of a person's groups (default: groups)"),
  scopes: z
    .array(name)
    .max(100)
    .optional()
    .describe("Scopes that clients and the console ask the issuer for (default: openid)"),
  clockTolerance: z
    .int()
    .min(0)
    .max(60)
    .optional()
    .describe("Seconds by which clocks may differ (default: 5)"),
  console: z
    .strictObject({
      clientId: name.describe(
        "The client of the console at the issuer, with the redirect URI ORIGIN/console/callback",
      ),
      clientSecret: name.optional(),
    })
    .optional()
    .describe("Opens the console by a login at the issuer, in place of one-time links"),
});

export type PeopleSettings = z.infer<typeof peopleSchema>;
export type PeopleGroup = z.infer<typeof groupSchema>;

function isSafe(url: string): boolean {
  const { protocol, hostname, search, hash } = URL.parse(url) ?? new URL("about:blank");
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return search === "" && hash === "" && (protocol === "https:" || (isHere && protocol === "http:"));
}

const price = z.number().min(0);
const most = z.int().min(1).max(1e12);
const usageLimit = section({
  calls: most.describe("Calls a day, which begins at midnight UTC"),
  concurrent: most.describe("Calls at the same time"),
  tokens: most.describe("Tokens of answers a day"),
});

/** A settings file, or the settings of the environment. Everything is optional. */
export const settingsFileSchema = z
  .strictObject({
    $schema: text,
    providers: z.strictObject({
      default: providerNameSchema.optional().describe("The provider in use"),
      ...providerFields,
    }),
    agent: section({
      mode: z
        .enum(["discover", "fixed"])
        .describe(
          "fixed (default): always the same few tools, so that prompts are cached; discover: tools appear as they are found",
        ),
      systemPrompt: z.string().max(100_000),
      temperature: z.number().min(0).max(2).describe("How freely the model chooses its words"),
      maxTokens: z.int().min(1).describe("Limit of tokens in one answer of the model"),
      maxRunTokens: count.describe("Limit of tokens in one run, input and output"),
      maxSteps: count.describe("Limit of model calls in one run"),
      idleTimeoutMs: z
        .int()
        .min(1)
        .max(2 ** 31 - 1)
        .describe("A request fails with TIMEOUT if the provider sends nothing for so long"),
      contextWindow: z.int().min(1_000).describe("Tokens that the model can take"),
      effort: z
        .enum(["none", "low", "medium", "high"])
        .describe("How much the model thinks before it answers"),
      dataDir: text.describe("Folder of sessions and large results"),
      environment: z
        .array(name)
        .max(500)
        .describe(
          "Variables of commands: NAME passes it on also if it is a key, !NAME does not; * is any text",
        ),
      sandbox: sandboxSchema.describe(
        "Limits of the agent's commands: folders beside the project, and the network; false: none",
      ),
    }),
    retry: section({
      enabled: retry.enabled.unwrap(),
      maxRetries: retry.maxRetries.unwrap(),
      baseDelayMs: retry.baseDelayMs.unwrap(),
      maxDelayMs: retry.maxDelayMs.unwrap(),
      enableJitter: retry.enableJitter.unwrap(),
      overloadMs: retry.overloadMs
        .unwrap()
        .describe("How long an overloaded provider is asked again, after the other retries"),
    }),
    skills: section({
      enabled: z.array(name).describe("Only these skills; without it, all skills that are found"),
      disabled: z.array(name),
      places: z.array(text).describe("More folders with skills"),
      maxSkills: count.describe("Most skills that a prompt gets in full"),
    }),
    permissions: section({
      allow: rules,
      ask: rules,
      deny: rules,
      folders: z
        .record(z.string().min(1).max(4_096), rules)
        .describe("In your own file: what you allow always in single folders, by their paths"),
    }),
    telemetry: section({
      enabled: z.boolean(),
      endpoint: url.unwrap().describe("Address of an OTLP collector over HTTP, without /v1/traces"),
      headers: z.record(name, text),
      arguments: z.boolean().describe("Also sends prompts, arguments and answers"),
    }),
    logging: section({
      level: z.enum(LOG_LEVELS).describe("The least grave events that a server tells on stderr"),
    }),
    audit: section({
      enabled: z.boolean().describe("Keeps the audit log in the state folder"),
      failClosed: z.boolean().describe("Refuses calls that write while the log cannot be written"),
      sync: z
        .enum(["each", "second", "never"])
        .describe("When records are flushed to the disk: before each call, within a second, or never"),
    }),
    learning: section({
      enabled: z
        .boolean()
        .describe("Keeps in the state folder which tools served which queries, so that search gets better"),
      shared: z
        .boolean()
        .describe("Agents with the same scopes learn from each other; false: each learns from its own calls"),
    }),
    state: z
      .strictObject({
        postgres: z
          .string()
          .min(1)
          .max(4096)
          .describe(
            `Address of a PostgreSQL primary, as \${DATABASE_URL}: all gateways that name it act as one`,
          ),
        table: z.string().min(1).max(100).optional().describe("Prefix of all tables (default: keyhole)"),
      })
      .describe("Keeps everything that matters in PostgreSQL instead of the state folder"),
    index: z
      .union([
        z.literal("embedded"),
        z.strictObject({
          typesense: z.strictObject({ url: text, apiKey: text, collection: name.optional() }),
        }),
      ])
      .describe("The search index: embedded in each process, or Typesense (default: where the state is)"),
    limits: section({
      person: usageLimit.describe("The most of each person"),
      servers: z.record(name, usageLimit).describe("The most of all people together, by server"),
      prices: section({
        currency: z.string().min(1).max(8),
        tokens: price.describe("Price of a million tokens that answers put into contexts"),
        servers: z.record(name, price).describe("Price of a call, by server"),
        tools: z.record(name, price).describe("Price of a call, by tool; it wins over that of the server"),
      }),
    }),
    instructions: z
      .string()
      .max(20_000)
      .describe("The instructions that MCP clients get with the tools, in place of Keyhole's own"),
    publicUrl: url
      .unwrap()
      .describe("Address of this gateway as people reach it, for links; by default where it listens"),
    sealKey: z
      .union([text, z.array(text).min(1).max(8)])
      .describe(
        "Secret that seals the logins of people; of several, the first seals and the others only open",
      ),
    changes: z
      .enum(CHANGES)
      .describe(
        "ask: every change of an approved definition waits for you; wording-ok: changed descriptions stay in use",
      ),
    askAfterInjection: z
      .boolean()
      .describe(
        "Asks you before a call that writes if text of another server, earlier in the session, reads like instructions (default: true)",
      ),
    hooks: z
      .array(
        z.strictObject({
          on: z.enum(["prompt", "before-tool", "after-tool", "end"]),
          tool: text.optional().describe("Only tools of this name; * stands for any text"),
          command: z.string().min(1).max(10_000),
          timeoutMs: z.int().min(1).max(600_000).optional(),
          mayFail: z.boolean().optional().describe("Lets calls go on although the hook before them failed"),
        }),
      )
      .max(100)
      .describe("Commands that run at points of a run, with JSON as input"),
    session: section({ keep: z.boolean(), maxAgeDays: count }),
    mcpServers: z.record(name, server).describe("MCP servers, in the format of other clients"),
    servers: z.record(name, server).describe("The same under the name that VS Code has for it"),
    inputs: z
      .array(z.unknown())
      .describe("Inputs of VS Code. Nobody is asked: keyhole secrets set ID sets the value of an input"),
    overrides: z
      .record(name, checkedLater(serverOverrideSchema))
      .describe("Your own names, descriptions and lanes of tools, and the tools to hide, by server"),
    profiles: z
      .record(name, checkedLater(profileSchema))
      .describe("Choices of servers, for --profile NAME, the address /mcp/p/NAME, agents and groups"),
    people: checkedLater(peopleSchema).describe(
      "The people who may use keyhole serve --http, and their rights",
    ),
  })
  .partial();

function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape).partial();
}

export type SettingsFile = z.infer<typeof settingsFileSchema>;

type SettingsSection<Name extends keyof SettingsFile> = NonNullable<SettingsFile[Name]>;

export type PermissionLists = Record<"allow" | "ask" | "deny", string[]>;

export const DEFAULT_SETTINGS = {
  providers: { default: DEFAULT_PROVIDER },
  agent: { mode: "fixed", maxSteps: 50, idleTimeoutMs: DEFAULT_IDLE_MS },
  retry: retryConfigSchema.parse({ overloadMs: 10 * 60_000 }),
  skills: { disabled: [], places: [], maxSkills: 3 },
  telemetry: { enabled: false, endpoint: "http://localhost:4318", headers: {}, arguments: false },
  logging: { level: "info" },
  audit: { enabled: true, failClosed: false, sync: "second" },
  learning: { enabled: true, shared: false },
  session: { keep: true, maxAgeDays: 30 },
  hooks: [],
  mcpServers: {},
  overrides: {},
  profiles: {},
} as const satisfies SettingsFile;

type Defaulted<Name extends keyof typeof DEFAULT_SETTINGS> = SettingsSection<Name> &
  Required<Pick<SettingsSection<Name>, keyof (typeof DEFAULT_SETTINGS)[Name] & keyof SettingsSection<Name>>>;

/** The merged settings that the agent uses. */
export type Settings = {
  readonly [Name in Exclude<keyof typeof DEFAULT_SETTINGS, "hooks">]: Defaulted<Name>;
} & {
  readonly hooks: SettingsSection<"hooks">;
  /** Absent: `ask`, and the person may still be offered the choice. */
  readonly changes?: SettingsSection<"changes">;
  /** Read by `readPeople`. Absent: only agents with keys and the owner. */
  readonly people?: unknown;
  /** Absent: true. */
  readonly askAfterInjection?: boolean;
  /** Absent: Keyhole writes its own. */
  readonly instructions?: string;
  /** Absent: the address that it listens at. */
  readonly publicUrl?: string;
  /** Absent: no server can have logins of people. */
  readonly sealKey?: SettingsSection<"sealKey">;
  /** Absent: in the state folder. */
  readonly state?: SettingsSection<"state">;
  /** Absent: no limits, and no prices. */
  readonly limits?: SettingsSection<"limits">;
  /** Absent: in PostgreSQL if the state is there, otherwise embedded. */
  readonly index?: SettingsSection<"index">;
  /** Kept by owner: the project's rules are checked first, and a deny of either wins. */
  readonly permissions: { readonly user: PermissionLists; readonly project: PermissionLists };
};

/** Settings that are secrets whatever they look like. */
export const SECRET_KEYS = new Set(["apiKey", "token", "clientSecret", "privateKey", "sealKey", "postgres"]);

/** The secrets in the settings, which must not be shown, written or sent. */
export function secretsOf(settings: Settings): string[] {
  const found = new Set<string>();
  const take = (secrets: readonly string[]) => {
    for (const secret of secrets) found.add(secret);
  };
  const walk = (value: unknown): void => {
    if (!isPlainObject(value)) return;
    for (const [key, part] of Object.entries(value)) {
      if (typeof part === "string") take(SECRET_KEYS.has(key) ? [part] : secretsIn(key, part));
      else if ((key === "env" || key === "headers") && isPlainObject(part))
        take(secretsInFields(textsOf(part)));
      else if (key === "args" && Array.isArray(part)) take(secretsInArgs(part.map(String)));
      else walk(part);
    }
  };
  const { providers, telemetry, mcpServers: servers, state, index } = settings;
  walk({ providers, telemetry, servers, state, index });
  return [...found];
}

function textsOf(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}
