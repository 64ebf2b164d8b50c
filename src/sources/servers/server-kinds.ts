import { z } from "zod";
import { readPart } from "../../base/json-schema/zod-mistakes.ts";
import { nearest } from "../../base/util/nearest.ts";
import { field, isPlainObject, listOf, type PlainObject } from "../../base/util/plain-object.ts";
import type { contentFormats } from "../content/formats/content-formats.ts";
import {
  invalid,
  type McpServerConfig,
  readServerConfig,
  SERVER_FIELDS,
  serverConfigSchema,
  serverRules,
} from "../mcp/config/server-config.ts";

const text = z.string().min(1);
const texts = z.array(text);
const names = { description: text.optional(), scopes: texts.optional() };
const common = { ...names, cwd: text.optional(), ...serverRules };

const librarySchema = z.object({
  /** A folder of Markdown: `prompts/`, `fragments/`, `rules/` and `skills/`. */
  library: text,
  /** Scheme of the library's own addresses. */
  scheme: text.optional(),
  ...common,
});

const skillsSchema = z.object({
  /** Folders of skills, or `true` for the agent's own. */
  skills: z.union([z.literal(true), texts.min(1)]),
  ...common,
});

const apiKey = z.strictObject({
  type: z.literal("apiKey"),
  in: z.enum(["header", "query", "cookie"]),
  name: text,
  value: text,
});
const auth = z.discriminatedUnion("type", [
  apiKey,
  z.strictObject({ type: z.literal("bearer"), token: text }),
  z.strictObject({ type: z.literal("basic"), username: text, password: text }),
  z.strictObject({
    type: z.literal("clientCredentials"),
    tokenUrl: text,
    clientId: text,
    clientSecret: text,
    scopes: texts.optional(),
  }),
]);

const openApiSchema = z.object({
  /** Path or address of an OpenAPI 3 document. */
  openapi: text,
  baseUrl: text.optional(),
  auth: z.union([auth, z.array(auth)]).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  allowPrivateHosts: texts.optional(),
  ...common,
});

// Names only, so that no start loads the formats.
export const FORMATS = [
  "markdown",
  "pr",
  "commit",
  "tableSchema",
  "qaseSuite",
  "clickUpDoc",
  "clickUpTask",
  // Accepts what the other formats do not.
  "text",
] as const satisfies readonly (keyof typeof contentFormats)[];
const pipeline = {
  /** Default: all formats. */
  formats: z.array(z.enum(FORMATS)).min(1).optional(),
  basePath: text.optional(),
  cacheTtlMs: z.int().positive().optional(),
  scopes: texts.optional(),
  name: text.optional(),
};
const http = {
  baseUrl: text.optional(),
  allowPrivateHosts: texts.optional(),
  timeoutMs: z.int().positive().optional(),
};

/** Sources of documents, each with its options in a config. */
const SOURCES = {
  local: z.strictObject({
    source: z.literal("local"),
    root: text,
    include: texts.optional(),
    exclude: texts.optional(),
    maxBytes: z.int().positive().optional(),
    ...pipeline,
  }),
  github: z.strictObject({
    source: z.literal("github"),
    owner: text,
    repo: text,
    kinds: z.array(z.enum(["prs", "issues", "commits", "files"])).optional(),
    token: text.optional(),
    state: z.enum(["open", "closed", "all"]).optional(),
    since: text.optional(),
    ref: text.optional(),
    files: texts.optional(),
    limit: z.int().positive().optional(),
    ...http,
    ...pipeline,
  }),
  clickUp: z.strictObject({
    source: z.literal("clickUp"),
    workspaceId: text,
    token: text,
    kinds: z.array(z.enum(["docs", "tasks", "lists"])).optional(),
    spaceIds: texts.optional(),
    listIds: texts.optional(),
    includeClosed: z.boolean().optional(),
    ...http,
    ...pipeline,
  }),
  drive: z.strictObject({
    source: z.literal("drive"),
    /** Key file of a service account. */
    account: text,
    folderIds: texts.optional(),
    query: text.optional(),
    subject: text.optional(),
    ...http,
    ...pipeline,
  }),
  postgres: z.strictObject({
    source: z.literal("postgres"),
    url: text,
    schemas: texts.optional(),
    tables: texts.optional(),
    ...pipeline,
  }),
  qase: z.strictObject({
    source: z.literal("qase"),
    project: text,
    token: text,
    ...http,
    ...pipeline,
  }),
};
const { local, github, clickUp, drive, postgres, qase } = SOURCES;

const contentSchema = z.object({
  /** Documents of other systems, one pipeline for each source. */
  content: z
    .array(z.discriminatedUnion("source", [local, github, clickUp, drive, postgres, qase]))
    .min(1)
    .max(100),
  ...common,
});

/** Any server of a config, for completion and checks in editors. */
export const anyServerSchema = z.union([
  serverConfigSchema,
  librarySchema,
  skillsSchema,
  openApiSchema,
  contentSchema,
]);

const KINDS = {
  library: librarySchema,
  skills: skillsSchema,
  openapi: openApiSchema,
  content: contentSchema,
};

/** A server that Keyhole reads itself: Markdown, skills, an OpenAPI document, or content of other systems. */
export type ReadServerConfig = z.output<(typeof KINDS)[keyof typeof KINDS]>;
export type AnyServerConfig = McpServerConfig | ReadServerConfig;
export type PipelineConfig = z.output<typeof contentSchema>["content"][number];

/** All fields of a server in a config. */
export const ANY_SERVER_FIELDS: readonly string[] = [
  ...new Set([...SERVER_FIELDS, ...Object.values(KINDS).flatMap(({ shape }) => Object.keys(shape))]),
];

/** The fields of a server without a program. Undefined for an MCP server. */
export function fieldsOfKind(config: PlainObject): readonly string[] | undefined {
  const kind = Object.entries(KINDS).find(([name]) => config[name] !== undefined);
  return kind && Object.keys({ ...kind[1].shape, command: "", url: "" });
}

/**
 * Parses the config of a server without a program. Undefined for an MCP server.
 *
 * @throws SERVER_CONFIG_INVALID
 */
export function readServerKind(label: string, config: unknown): ReadServerConfig | undefined {
  if (!isPlainObject(config)) return undefined;
  const kinds = Object.keys(KINDS).filter((kind) => config[kind] !== undefined);
  const [kind, other = ["command", "url"].find((name) => config[name] !== undefined)] = kinds;
  if (kind === undefined) return undefined;
  if (other !== undefined) throw invalid(label, `it has both ${article(kind)} and ${article(other)}`);
  if (kind === "content") checkPipelines(label, config.content);
  return readPart<z.ZodType<ReadServerConfig>>(KINDS[kind as keyof typeof KINDS], config, (mistakes) =>
    invalid(label, mistakes),
  );
}

/**
 * Checks the config of any server.
 *
 * @throws SERVER_CONFIG_INVALID
 */
export function checkServer(label: string, config: unknown): void {
  if (!readServerKind(label, config)) readServerConfig(label, config);
}

/** Names the wrong pipeline, and the nearest name for an unknown source or format. */
function checkPipelines(label: string, content: unknown): void {
  for (const [index, part] of listOf(content).entries()) {
    const wrong = (mistakes: string) => invalid(label, `content[${index}]: ${mistakes}`);
    const source = String(field(part, "source") ?? "");
    const schema = Object.hasOwn(SOURCES, source) ? SOURCES[source as keyof typeof SOURCES] : undefined;
    if (!schema) throw wrong(unknownName("source", source, Object.keys(SOURCES)));
    const format = listOf(field(part, "formats")).find(
      (name) => !(FORMATS as readonly unknown[]).includes(name),
    );
    if (format !== undefined) throw wrong(unknownName("format", String(format), FORMATS));
    readPart<z.ZodType>(schema, part, wrong);
  }
}

function unknownName(what: string, name: string, known: readonly string[]): string {
  const all = `the ${what}s are ${known.join(", ")}`;
  if (name === "") return `it names no ${what}; ${all}`;
  const [near] = nearest(name, known, 1);
  const hint = near === undefined ? all : `did you mean ${near}?`;
  return `the ${what} ${JSON.stringify(name)} is not known; ${hint}`;
}

function article(kind: string): string {
  if (kind === "openapi") return "an openapi";
  return kind === "content" || kind === "skills" ? kind : `a ${kind}`;
}
