import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { problem } from "../../base/problems/problem.ts";
import { systemClock } from "../../base/util/clock.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { nearest } from "../../base/util/nearest.ts";
import { mapTexts } from "../../base/util/plain-object.ts";
import type { Domain } from "../../core/nouns/entry.ts";
import type { ServerProgram } from "../../core/nouns/server-program.ts";
import type { Source } from "../../core/nouns/source.ts";
import { openPool } from "../../core/storage/postgres-client.ts";
import type { DriveSourceOptions } from "../content/sources/drive-source.ts";
import { ownSkillFolders, type SkillPlace, skillPlaces } from "../markdown/skills/skill.ts";
import { type McpServerConfig, withoutRules } from "../mcp/config/server-config.ts";
import { expandVariables, type LaunchVariables } from "../mcp/config/to-launch.ts";
import type { McpDiagnostics } from "../mcp/follow-upstream.ts";
import { createMcpSource, eachServer, type McpSource } from "../mcp/mcp-source.ts";
import type { McpSourceOptions } from "../mcp/source-options.ts";
import type { OpenApiOptions } from "../openapi/openapi-source.ts";
import { FollowedServer, type OpenedServer } from "./followed-server.ts";
import { FORMATS, type PipelineConfig, type ReadServerConfig, readServerKind } from "./server-kinds.ts";

const SKILLS = "Instructions for kinds of tasks: read the fitting one before such a task.";

/** A server of a config, of any kind. */
export interface ServerSource extends Source {
  /** Name of the server, and domain of its entries. */
  readonly label: string;
  /** Whether the server keeps state for its client, so that no other client may use the same process. */
  readonly isStateful: boolean;
  /** Describes what the server runs, reaches or reads. Starts nothing. */
  program(): ServerProgram;
  /** The process of an MCP server with its sandbox. See {@link McpSource}. */
  readonly limits?: McpSource["limits"];
  diagnostics(): Pick<McpDiagnostics, "label" | "status" | "entries" | "stderr" | "warnings">;
}

/**
 * Creates one source for each enabled server of a config: MCP servers like {@link fromMcpConfig}, folders of Markdown
 * (`library`), folders of skills (`skills`), APIs (`openapi`) and documents of other systems (`content`). Relative
 * paths start from the option `cwd`.
 *
 * @throws SERVER_CONFIG_INVALID with every error in the config. INVALID_INPUT if the profile does not exist
 * @example
 * ```ts
 * import { fromConfig } from "keyhole/sources";
 *
 * const sources = fromConfig({ servers: { guide: { library: "./docs" }, pets: { openapi: "./pets.yaml" } } });
 * console.assert(sources.map(({ id }) => id).join() === "library:guide,openapi:pets");
 * ```
 */
export function fromConfig(json: unknown, options: McpSourceOptions = {}): ServerSource[] {
  return eachServer(json, options, createServerSource);
}

/**
 * Creates the source of one server of a config.
 *
 * @throws SERVER_CONFIG_INVALID
 */
export function createServerSource(label: string, config: unknown, options: McpSourceOptions): ServerSource {
  const reading = readServerKind(label, config);
  return reading
    ? createReadServer(label, reading, options)
    : createMcpSource(label, config as McpServerConfig, options);
}

function createReadServer(label: string, config: ReadServerConfig, options: McpSourceOptions): ServerSource {
  const { commandFor = (words: readonly string[]) => `keyhole ${words.join(" ")}`, mayStart } = options;
  const variables = options.variables ?? options.environment ?? process.env;
  const clock = options.clock ?? systemClock;
  const place = placeConfig(label, config, options.cwd, variables);
  const program = (): ServerProgram => toProgram(label, place);
  const make = () =>
    new FollowedServer({
      ...options,
      label,
      config,
      clock,
      approvedBy: commandFor(["approve", label]),
      mayStart: () => mayStart?.(program()) ?? true,
      open: () => openServer(label, place, { ...options, variables }),
    });
  // Like for a running server: a person who trusts a whole config is asked about its servers when they are created.
  void mayStart?.(program());
  let followed = make();
  let isUsed = false;
  const kind = (["library", "skills", "openapi", "content"] as const).find((name) => name in config)!;
  return {
    id: `${kind}:${label}`,
    label,
    isStateful: false,
    ...(kind === "skills" && { isSoon: true }),
    ...((options.scopes ?? config.scopes) && { scopes: options.scopes ?? config.scopes! }),
    program,
    get digest() {
      const { tools, description, scopes, skills } = options;
      return contentHash(JSON.parse(JSON.stringify([place, tools, description, scopes, skills])));
    },
    contents: (signal, onFailed) => {
      // Several gateways may follow the same source one after the other.
      if (isUsed) followed = make();
      isUsed = true;
      return followed.contents(signal, onFailed);
    },
    refresh: (signal, force) => followed.refresh(signal, force),
    freshness: () => followed.freshness(),
    diagnostics: () => followed.diagnostics(),
  };
}

/** The config with absolute file paths. */
function placeConfig(
  label: string,
  config: ReadServerConfig,
  cwd: string | undefined,
  variables: LaunchVariables,
): ReadServerConfig {
  const absolute = (path: string) => {
    try {
      return resolve(cwd ?? "", config.cwd ?? "", expandVariables(label, path, variables));
    } catch {
      // The start will report the missing variable.
      return path;
    }
  };
  if ("library" in config) return { ...config, library: absolute(config.library) };
  if ("skills" in config) return { ...config, skills: config.skills === true || config.skills.map(absolute) };
  if ("openapi" in config)
    return { ...config, openapi: isAddress(config.openapi) ? config.openapi : absolute(config.openapi) };
  const content = config.content.map((part): PipelineConfig => {
    if (part.source === "local") return { ...part, root: absolute(part.root) };
    return part.source === "drive" ? { ...part, account: absolute(part.account) } : part;
  });
  return { ...config, content };
}

function isAddress(text: string): boolean {
  return /^(?:https?:\/\/|\$\{)/i.test(text);
}

function toProgram(label: string, config: ReadServerConfig): ServerProgram {
  const { description: _, scopes: __, cwd: ___, ...started } = config;
  const isOwn = "skills" in started && started.skills === true;
  const reads = flatten(withoutRules(isOwn ? { ...started, skills: ownSkillFolders() } : started));
  const hash = contentHash(reads);
  return { label, hash, identity: hash, runs: { reads } };
}

/** Texts in a value by their paths, such as `content[0].token`. */
function flatten(value: unknown, path = ""): Record<string, string> {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) return { [path]: String(value) };
  const parts = Object.entries(value).map(([key, part]) => {
    const below = Array.isArray(value) ? `[${key}]` : path === "" ? key : `.${key}`;
    return flatten(part, `${path}${below}`);
  });
  return Object.assign({}, ...parts);
}

type ServerContext = McpSourceOptions & { readonly variables: LaunchVariables };

/** Fills in the variables and creates the sources. */
async function openServer(
  label: string,
  placed: ReadServerConfig,
  options: ServerContext,
): Promise<OpenedServer> {
  const config = mapTexts(placed, (text) => expandVariables(label, text, options.variables));
  if ("library" in config) return openLibrary(label, config);
  if ("skills" in config) return openSkills(label, config, options);
  if ("openapi" in config) return openApi(label, config, options);
  return openContent(label, config, options);
}

async function openLibrary(label: string, config: Extract<ReadServerConfig, { library: string }>) {
  const { library: directory, scheme, description = `The library ${basename(directory)}.` } = config;
  checkPath(label, "library", directory);
  const { createMarkdownSource } = await import("../markdown/markdown-source.ts");
  const source = createMarkdownSource(label, { directory, description, ...(scheme && { scheme }) });
  return { sources: [source], warnings: () => source.diagnostics().problems };
}

async function openSkills(
  label: string,
  { skills: folders, description = SKILLS }: Extract<ReadServerConfig, { skills: unknown }>,
  { skills = {} }: ServerContext,
) {
  const { createSkillsSource } = await import("../markdown/follow-skills.ts");
  const named = folders === true ? [] : folders.map((folder): SkillPlace => ({ origin: "user", folder }));
  const places = folders === true ? (skills.places ?? skillPlaces()) : named;
  const source = createSkillsSource(label, { ...skills, places });
  const domain: Domain = { name: label, description, scopes: [], rules: [] };
  return { sources: [source], domain, warnings: source.problems };
}

async function openApi(
  label: string,
  config: Extract<ReadServerConfig, { openapi: string }>,
  { readBeforeWrite }: ServerContext,
): Promise<OpenedServer> {
  const { openapi: document, baseUrl, auth, headers, allowPrivateHosts, timeoutMs } = config;
  if (!isAddress(document)) checkPath(label, "openapi", document);
  const { createOpenApiSource } = await import("../openapi/openapi-source.ts");
  const options = { baseUrl, auth, headers, allowPrivateHosts, timeoutMs, readBeforeWrite };
  const source = createOpenApiSource(label, { document, ...defined(options) } as OpenApiOptions);
  return { sources: [source], warnings: () => [] };
}

async function openContent(
  label: string,
  config: Extract<ReadServerConfig, { content: unknown }>,
  { cacheDirectory, clock = systemClock }: ServerContext,
): Promise<OpenedServer> {
  const [{ createContentSource }, { createContentStore }, { contentSources }, { contentFormats }] =
    await Promise.all([
      import("../content/content-source.ts"),
      import("../content/content-store.ts"),
      import("../content/sources/content-sources.ts"),
      import("../content/formats/content-formats.ts"),
    ]);
  const failures = new Set<string>();
  // Another account may see other documents under the same names.
  const folder = cacheDirectory && join(cacheDirectory, "content", contentHash(config.content).slice(0, 32));
  const store = createContentStore(folder);
  const toSource = async (part: PipelineConfig) => {
    switch (part.source) {
      case "local":
        checkPath(label, "root", part.root);
        return contentSources.local(defined(part) as typeof part);
      case "drive": {
        checkPath(label, "account", part.account);
        const account: unknown = JSON.parse(readFileSync(part.account, "utf8"));
        return contentSources.drive({ ...defined(part), account } as DriveSourceOptions);
      }
      case "postgres":
        return contentSources.postgres({
          ...(defined(part) as Omit<typeof part, "url">),
          client: await openPool(part.url, "The source postgres", CONTENT_CONNECTIONS),
        } as Parameters<typeof contentSources.postgres>[0]);
      default:
        return contentSources[part.source](defined(part) as never);
    }
  };
  const sources = config.content.map(async (part, index) => {
    const { formats = FORMATS, basePath, cacheTtlMs, scopes } = part;
    const source = await toSource(part);
    return createContentSource({
      id: `${label}/${index}/${source.name}`,
      domain: label,
      pipeline: {
        source,
        formats: formats.map((name) => contentFormats[name]()),
        ...(basePath !== undefined && { basePath }),
        ...(cacheTtlMs !== undefined && { cacheTtlMs }),
        ...(scopes && { scopes }),
      },
      store,
      clock,
      random: Math.random,
      onProgress: () => {},
      onFailure: (detail) => failures.add(detail),
    });
  });
  const domain: Domain = { name: label, description: "", scopes: [], rules: [] };
  return { sources: await Promise.all(sources), domain, warnings: () => [...failures] };
}

const CONTENT_CONNECTIONS = 2;

/** @throws SOURCE_INVALID if the path does not exist. */
function checkPath(label: string, what: string, path: string): void {
  const reason = missingPath(what, path);
  if (reason !== undefined) throw problem("SOURCE_INVALID", { name: label, reason });
}

/** Says that a path does not exist, with the nearest name in its folder. */
export function missingPath(what: string, path: string): string | undefined {
  if (existsSync(path)) return undefined;
  const parent = dirname(path);
  const [near] = existsSync(parent) ? nearest(basename(path), readdirSync(parent), 1) : [];
  const hint = near === undefined ? "" : `; did you mean ${join(parent, near)}?`;
  return `its ${what} ${path} does not exist${hint}`;
}

function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
