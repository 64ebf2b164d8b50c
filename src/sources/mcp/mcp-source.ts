import { join } from "node:path";
import { systemClock } from "../../base/util/clock.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import { uniqueName } from "../../base/util/unique-name.ts";
import type { SandboxLimits, ServerProgram } from "../../core/nouns/server-program.ts";
import type { Source } from "../../core/nouns/source.ts";
import type { IsolatedServer } from "../isolation/propose-limits.ts";
import { readOverride, readProfile, serversOf } from "./config/overrides.ts";
import {
  invalid,
  isPersonal,
  isSwitchedOff,
  type McpServerConfig,
  readServerConfig,
  type ServerConfig,
  withoutRules,
} from "./config/server-config.ts";
import { toIsolatedServer, toServerProgram } from "./config/server-program.ts";
import { expandVariables } from "./config/to-launch.ts";
import { FollowedUpstream, type FollowUpstreamOptions, type McpDiagnostics } from "./follow-upstream.ts";
import { createListingCache, createSharedListings, type ListingCache } from "./listing-cache.ts";
import type { LogInOptions } from "./login/log-in.ts";
import { createLogins, type Logins } from "./login/logins.ts";
import { sweepOrphans } from "./process-tree.ts";
import type { McpSourceOptions } from "./source-options.ts";
import { DEFAULT_LIMITS } from "./upstream-target.ts";

/** Source for one upstream server. See {@link fromMcpConfig}. */
export interface McpSource extends Source {
  /** Name of the server, and domain of its entries. The id is `mcp:` and the label. */
  readonly label: string;
  /** Whether the server keeps state for its client, so that no other client may use the same process. */
  readonly isStateful: boolean;
  /** Describes what starting the server runs or reaches. Starts nothing. */
  program(): ServerProgram;
  /** The process with its limits, or with these limits. Undefined if it is not isolated or cannot start. */
  limits(sandbox?: SandboxLimits): IsolatedServer | undefined;
  /** Connects if necessary and lists everything again. Rejects with UNAVAILABLE if the server is down. */
  refresh(signal?: AbortSignal): Promise<void>;
  /** Lets a person log in. False if the server needs no login. Rejects with LOGIN_FAILED. */
  logIn(options: LogInOptions): Promise<boolean>;
  /** Deletes the login. False if there was none. */
  logOut(): Promise<boolean>;
  /** Stops the server and starts it again. Rejects with UNAVAILABLE if it does not start. */
  restart(): Promise<void>;
  diagnostics(): McpDiagnostics;
}

const LABEL = /^[a-z][a-z0-9_-]{0,63}$/i;
/** Delay, because scanning all processes would slow down the start. */
const SWEEP_MS = 500;

/**
 * Creates a source for one MCP server. The label becomes the domain of its entries. The server starts when an entry is
 * called, or when no fresh listing is cached. See {@link fromMcpConfig}.
 *
 * @throws SERVER_CONFIG_INVALID
 * @example
 * ```ts
 * import { createMcpSource } from "keyhole/sources";
 *
 * const files = createMcpSource("files", { command: "npx", args: ["-y", "files-server"] }, { ask: "writes" });
 * console.assert(files.id === "mcp:files");
 * ```
 */
export function createMcpSource(
  label: string,
  config: McpServerConfig,
  options: McpSourceOptions = {},
): McpSource {
  if (!LABEL.test(label))
    throw invalid(label, "a label has letters, digits, hyphens and underscores, and begins with a letter");
  const server = readServerConfig(label, config);
  const environment = options.environment ?? process.env;
  const variables = options.variables ?? environment;
  const logins = options.logins ?? defaultLogins(process.env.KEYHOLE_STATE);
  if (isPersonal(server) && !logins.isSealed)
    throw invalid(label, 'its logins of people have to be sealed; set "sealKey" in the config');
  const settings: FollowUpstreamOptions = {
    ...options,
    label,
    config: server,
    cache: cacheOf(label, server, { ...options, variables, environment }),
    variables,
    environment,
    shared: server.stateful ? undefined : options.shared,
    cwd: options.cwd,
    limits: { ...DEFAULT_LIMITS, ...options.limits, ...(server.stateful && { idleMs: 0 }) },
    clock: options.clock ?? systemClock,
    logins,
  };
  let followed = new FollowedUpstream(settings);
  let isUsed = false;
  return {
    id: `mcp:${label}`,
    label,
    ...(options.scopes && { scopes: options.scopes }),
    isStateful: server.stateful ?? false,
    program: () => toServerProgram(label, server, settings),
    limits: (sandbox) => toIsolatedServer({ ...server, ...(sandbox && { sandbox }) }, settings),
    // Lazy: needed only when a changed config compares sources.
    get digest() {
      return digestOf(server, options);
    },
    contents: (signal, onFailed) => {
      sweepSoon();
      // A closed connection stays closed, and several gateways may follow the same source one after the other.
      if (isUsed) followed = new FollowedUpstream(settings);
      isUsed = true;
      return followed.contents(signal, onFailed);
    },
    refresh: (signal) => followed.refresh(signal),
    freshness: () => followed.freshness(),
    logIn: (how) => followed.logIn(how),
    logOut: () => followed.logOut(),
    restart: () => followed.restart(),
    diagnostics: () => followed.diagnostics(),
  };
}

/** The store of listings for the next start: shared between gateways, a folder, or none. */
function cacheOf(
  label: string,
  server: ReturnType<typeof readServerConfig>,
  options: McpSourceOptions & Pick<FollowUpstreamOptions, "variables" | "environment">,
): ListingCache | undefined {
  const { listings, cacheDirectory } = options;
  if (!listings && cacheDirectory === undefined) return undefined;
  const starts = whatStarts(label, server, { ...options, cwd: options.cwd });
  return listings
    ? createSharedListings(listings, label, starts)
    : createListingCache(cacheDirectory!, label, starts);
}

/**
 * Everything that decides what starts or is reached: the config with its variables, the folder, and the program's file.
 */
function whatStarts(
  label: string,
  server: ServerConfig,
  options: Pick<FollowUpstreamOptions, "variables" | "environment" | "cwd">,
) {
  const { runs } = toServerProgram(label, server, options);
  const program = withoutRules(server);
  // `place` has the folder, from the config or by default.
  const text = JSON.stringify({ ...program, ...("command" in program && { cwd: undefined }) });
  const place = "command" in runs ? [runs.path ?? "", runs.cwd] : [];
  try {
    return [expandVariables(label, text, options.variables), ...place];
  } catch {
    // The start will report the missing variable.
    return [text, ...place];
  }
}

function digestOf(
  server: ServerConfig,
  { clock: _, logins: __, shared: ___, links: ____, exchange: _____, ...options }: McpSourceOptions,
): string {
  return contentHash(JSON.parse(JSON.stringify([server, options])));
}

const loginsByPath = new Map<string, Logins>();

/** Sources share one open file. */
function defaultLogins(folder: string | undefined): Logins {
  if (!folder) return createLogins({ path: ":memory:" });
  const path = join(folder, "keyhole.db");
  const logins = loginsByPath.get(path) ?? createLogins({ path });
  loginsByPath.set(path, logins);
  return logins;
}

let swept = false;

/** Ends, once, the server processes of killed gateways. */
function sweepSoon(): void {
  if (swept) return;
  swept = true;
  setTimeout(() => void sweepOrphans().catch(() => 0), SWEEP_MS).unref();
}

const CONFIG = "in the config";

/**
 * Creates one source for each enabled server in the config of an MCP client (`mcpServers`, or `servers` of VS Code), as
 * text or object. `overrides` in the config replace names, descriptions and lanes, and hide tools. Starts nothing; the
 * gateway does.
 *
 * @throws SERVER_CONFIG_INVALID with every error in the config. INVALID_INPUT if the profile does not exist
 * @example
 * ```ts
 * import { fromMcpConfig } from "keyhole/sources";
 *
 * const sources = fromMcpConfig({ mcpServers: { files: { command: "npx", args: ["-y", "files-server"] } } });
 * console.assert(sources[0]?.id === "mcp:files");
 * ```
 */
export function fromMcpConfig(json: unknown, options: McpSourceOptions = {}): McpSource[] {
  return eachServer(json, options, createMcpSource);
}

/**
 * Creates a source for each enabled server of a config, with its override.
 *
 * @throws SERVER_CONFIG_INVALID, INVALID_INPUT
 */
export function eachServer<T>(
  json: unknown,
  options: McpSourceOptions,
  create: (label: string, config: McpServerConfig, options: McpSourceOptions) => T,
): T[] {
  const block = typeof json === "string" ? parse(json) : json;
  if (!isPlainObject(block)) throw invalid(CONFIG, "it is not a JSON object");
  const servers =
    block.mcpServers ?? block.servers ?? (isPlainObject(block.mcp) ? block.mcp.servers : undefined);
  if (!isPlainObject(servers)) throw invalid(CONFIG, "it has neither mcpServers nor servers");
  const { profile, ...shared } = options;
  const chosen = profile === undefined ? servers : serversOf(servers, readProfile(block.profiles, profile));
  const taken = new Set<string>();
  return Object.entries(chosen)
    .filter(([, config]) => !isSwitchedOff(config))
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, config]) =>
      // The source itself reports errors in its config.
      create(uniqueName(toLabel(name), taken), config as McpServerConfig, {
        ...shared,
        ...readOverride(block.overrides, name),
      }),
    );
}

/** Converts a server name (free text) to a label (the start of a route). */
export function toLabel(name: string): string {
  const words = name.match(/[A-Za-z0-9_]+/g) ?? [];
  const joined = words.join("-").slice(0, 48);
  return /^[a-z]/i.test(joined) ? joined : `server-${joined || "unnamed"}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(CONFIG, "it is not JSON");
  }
}
