import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { z } from "zod";
import { readPart } from "../../../base/json-schema/zod-mistakes.ts";
import { problem } from "../../../base/problems/problem.ts";
import { isPlainObject } from "../../../base/util/plain-object.ts";
import { ASKS } from "../../../core/nouns/question.ts";

const texts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String));

export const nameList = z.array(z.string().min(1)).max(10_000);
export const toolAsks = z.record(z.string().min(1), z.enum(ASKS));

/** Which changes of approved definitions wait: all, or all except descriptions. */
export const CHANGES = ["ask", "wording-ok"] as const;
/** Whether a change of descriptions alone waits for a person. */
export type ChangePolicy = (typeof CHANGES)[number];

/** Rules for the use of a server of any kind. */
export const serverRules = {
  disabled: z.boolean().optional(),
  enabled: z.boolean().optional(),
  /** Further names of the server, in addresses and searches. */
  aliases: nameList.optional(),
  /** Only these tools exist: the server's names, or patterns with `*` and `?`. */
  includeTools: nameList.optional(),
  /** These tools do not exist. */
  excludeTools: nameList.optional(),
  /** Calls that need a person's approval: `never`, `destructive` (default), `writes` or `always`. */
  ask: z.enum(ASKS).optional(),
  /** Calls of single tools that need a person's approval, by name or pattern. */
  askTools: toolAsks.optional(),
  /** Time limit for one call, in milliseconds. */
  timeoutMs: z.number().int().positive().optional(),
};

const common = {
  ...serverRules,
  /**
   * Whether the server keeps state for its client: no other client uses the process, and it is not stopped while idle.
   */
  stateful: z.boolean().optional(),
  /** Whether a change of descriptions alone waits for a person's approval. */
  changes: z.enum(CHANGES).optional(),
};

/** A host: a name, `*.` and a name, or an address (IPv6 in brackets), with an optional port. */
const HOST = /^(?:(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Limits of a server's process, or false for none. */
export const sandboxSchema = z.union([
  z.literal(false),
  z.strictObject({
    /** Folders and files that the server may use, besides its project. */
    folders: z.array(z.string().min(1)).max(1_000).readonly().optional(),
    /** `all`, `none`, or a list of hosts: `name`, `*.name`, either with `:port`. */
    network: z
      .union([z.enum(["all", "none"]), z.array(z.string().regex(HOST)).min(1).max(1_000).readonly()])
      .optional(),
  }),
]);

const stdioSchema = z.object({
  type: z.enum(["stdio", "local"]).optional(),
  /** Empty: a container runs the program of its image. */
  command: z.string().min(1).default(""),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
  /** File with more variables, as `NAME=value` lines. Those in `env` win. */
  envFile: z.string().min(1).optional(),
  cwd: z.string().min(1).optional(),
  /** Files and hosts that the process may use. */
  sandbox: sandboxSchema.optional(),
  /** Image of a container for the server, run by Docker or Podman instead of the sandbox. */
  container: z
    .string()
    .regex(/^[a-z0-9][\w.:/@-]*$/i)
    .optional(),
  ...common,
});

/** Keyhole's client at the authorization server. Default: Keyhole registers itself. */
const oauthSchema = z.object({
  clientId: z.string().min(1).optional(),
  clientSecret: z.string().min(1).optional(),
  /** PEM key that authenticates the client instead of a secret, and its algorithm. */
  privateKey: z.string().min(1).optional(),
  algorithm: z.string().min(1).default("ES256"),
  /** URL of a client metadata document, which makes registration unnecessary at servers that support it. */
  clientMetadataUrl: z.url({ protocol: /^https$/ }).optional(),
  scopes: z.array(z.string().min(1)).optional(),
  /** `client_credentials`: Keyhole logs in as itself, without a person. */
  grant: z.enum(["authorization_code", "client_credentials"]).default("authorization_code"),
  /** Port on 127.0.0.1 for the login callback. Default: any free port. */
  callbackPort: z.number().int().min(1).max(65_535).optional(),
  /** Further hosts, as `name` or `name:port`, that may be private and without TLS. */
  allowPrivateHosts: z.array(z.string().min(1)).default([]),
  /** With `login: "exchange"`: the issuer that exchanges the tokens of people. Default: that of `people`. */
  issuer: z.url({ protocol: /^https?$/ }).optional(),
  /** With `login: "exchange"`: the audience of the server's tokens. Default: its url. */
  audience: z.string().min(1).optional(),
});

/**
 * The login at a server over HTTP: shared by everyone who uses the gateway (default), each person's own, or a token
 * that the person's issuer exchanges for one of the server.
 */
const LOGINS = ["shared", "person", "exchange"] as const;

const httpSchema = z.object({
  type: z.enum(["http", "streamable-http", "streamableHttp", "remote", "sse"]).optional(),
  url: z.string().min(1),
  headers: texts.default({}),
  oauth: oauthSchema.optional(),
  login: z.enum(LOGINS).optional(),
  ...common,
});

/** One server, for completion and checks in editors. */
export const serverConfigSchema = z.union([stdioSchema, httpSchema]);

/** One server, as in the configs of MCP clients. */
export type McpServerConfig = z.input<typeof stdioSchema> | z.input<typeof httpSchema>;

export type ServerConfig =
  | (Omit<z.output<typeof stdioSchema>, "type"> & { readonly transport: "stdio" })
  | (Omit<z.output<typeof httpSchema>, "type"> & {
      readonly transport: "http";
      /** The server speaks only HTTP with SSE, the transport of 2024-11-05. */
      readonly sse?: true;
    });

export type StdioConfig = Extract<ServerConfig, { readonly transport: "stdio" }>;
export type HttpConfig = Extract<ServerConfig, { readonly transport: "http" }>;
export type OAuthConfig = z.output<typeof oauthSchema>;

/** All fields of a server that Keyhole reads. */
export const SERVER_FIELDS: readonly string[] = Object.keys({ ...stdioSchema.shape, ...httpSchema.shape });

/** Other names of fields in configs of other clients. */
export const FIELD_ALIASES: Readonly<Record<string, string>> = {
  httpUrl: "url",
  serverUrl: "url",
  disabledTools: "excludeTools",
  enabledTools: "includeTools",
};

/** Parses the config of one server. Error messages never contain values. */
export function readServerConfig(label: string, config: unknown): ServerConfig {
  if (!isPlainObject(config)) throw invalid(label, "it is not an object");
  const fields = withOwnNames(config);
  const { command = fields.container, url } = fields;
  const wrong = (mistakes: string) => invalid(label, mistakes);
  if (command !== undefined && url !== undefined) throw invalid(label, "it has both a command and a url");
  if (command === undefined && url === undefined)
    throw invalid(label, "it has neither a command nor a url, library, openapi or content");
  if (url === undefined) {
    const { type: _, ...stdio } = readPart(stdioSchema, fields, wrong);
    return { ...inContainer(label, stdio), transport: "stdio" };
  }
  const { type, ...http } = readPart(httpSchema, fields, wrong);
  if (http.login !== "person" && personNamesIn(http.headers).length > 0)
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the words that stand in a config.
    throw invalid(label, 'a value of each person, ${person:NAME}, needs "login": "person"');
  return { ...http, transport: "http", ...(type === "sse" && { sse: true }) };
}

/** Whether each person has a separate login. */
export function isPersonal(config: ServerConfig): config is HttpConfig & { login: "person" | "exchange" } {
  return config.transport === "http" && config.login !== undefined && config.login !== "shared";
}

/** Values that each person enters. */
const OF_PERSON = /\$\{person:([A-Za-z_]\w*)\}/g;

/** Names of the values that each person enters for a server, in the order of its headers. */
export function personNamesIn(headers: HttpConfig["headers"]): string[] {
  const names = Object.values(headers).flatMap((text) =>
    [...text.matchAll(OF_PERSON)].map(([, name]) => name!),
  );
  return [...new Set(names)];
}

/** Replaces placeholders by a person's values. */
export function fillPersonValues(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(OF_PERSON, (_, name: string) => (Object.hasOwn(values, name) ? values[name]! : ""));
}

type StdioFields = Omit<z.output<typeof stdioSchema>, "type">;

/**
 * Turns a server with a `container` into the command that runs it, so that a person sees all of it. The container has
 * no network unless the config allows it, the folders of the sandbox, and variables by name, so that the command
 * contains no values.
 */
function inContainer(label: string, config: StdioFields): StdioFields {
  const { container, command, args, env, envFile, sandbox, cwd = "" } = config;
  if (container === undefined) return config;
  if (sandbox === false) throw invalid(label, "a container has limits; sandbox: false means nothing for it");
  const { folders = [], network = "none" } = sandbox ?? {};
  if (typeof network === "object") throw invalid(label, "a container takes no list of hosts: all or none");
  if (envFile !== undefined)
    throw invalid(label, "a container takes its variables from env, not from envFile");
  const places = folders.map((folder) => folder.replace(/^~(?=\/|$)/, homedir()));
  const words = [
    ...["run", "-i", "--rm", "--init", "--security-opt", "no-new-privileges"],
    ...(network === "none" ? ["--network", "none"] : []),
    ...places.flatMap((folder) => ["--mount", mountOf(/^\./.test(folder) ? resolve(cwd, folder) : folder)]),
    ...Object.keys(env).flatMap((name) => ["--env", name]),
    ...[container, ...(command === "" ? [] : [command]), ...args],
  ];
  return { ...config, command: containerEngine(), args: words };
}

/** The same path inside and outside. Container engines parse it as CSV. */
function mountOf(folder: string): string {
  const quoted = (part: string) => (/[",]/.test(part) ? `"${part.replaceAll('"', '""')}"` : part);
  return ["type=bind", quoted(`source=${folder}`), quoted(`target=${folder}`)].join(",");
}

function containerEngine(): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const places = ["docker", "podman"].flatMap((name) => folders.map((folder) => join(folder, name)));
  return places.find((path) => existsSync(path)) ?? "docker";
}

export function isSwitchedOff(config: unknown): boolean {
  return isPlainObject(config) && (config.disabled === true || config.enabled === false);
}

/** The part of a config that says what runs or is reached, without the rules for its use. */
export function withoutRules<T extends object>(config: T): Omit<T, keyof typeof serverRules | "stateful"> {
  const isRule = (name: string) => Object.hasOwn(serverRules, name) || name === "stateful";
  const started = Object.entries(config).filter(([name]) => !isRule(name));
  return Object.fromEntries(started) as Omit<T, keyof typeof serverRules | "stateful">;
}

function withOwnNames(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const renamed = Object.entries(FIELD_ALIASES)
    .filter(([alias, name]) => fields[alias] !== undefined && fields[name] === undefined)
    .map(([alias, name]) => [name, fields[alias]]);
  return { ...fields, ...Object.fromEntries(renamed) };
}

export function invalid(label: string, reason: string, details: Record<string, unknown> = {}) {
  return problem("SERVER_CONFIG_INVALID", { server: label, reason }, { reason, ...details });
}
