import { join } from "node:path";
import type { Lane, ReadBeforeWrite } from "../../schema/entry.ts";
import type { ServerProgram } from "../../schema/server-program.ts";
import type { Source } from "../../schema/source.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { contentHash } from "../../util/content-hash.ts";
import { sweepOrphans } from "../../util/process-tree.ts";
import type { ToolOverride } from "./config/overrides.ts";
import {
  invalid,
  type McpServerConfig,
  readServerConfig,
  type ServerConfig,
} from "./config/server-config.ts";
import { toServerProgram } from "./config/server-program.ts";
import type { Variables } from "./config/to-launch.ts";
import { type FollowUpstreamOptions, followUpstream, type McpDiagnostics } from "./follow-upstream.ts";
import { createListingCache } from "./listing-cache.ts";
import type { LogInOptions } from "./login/log-in.ts";
import { createLogins, type Logins } from "./login/logins.ts";
import type { SharedServers } from "./shared-servers.ts";
import { DEFAULT_LIMITS, type UpstreamLimits } from "./upstream-limits.ts";

/** Options of {@link fromMcpConfig}. */
export interface McpSourceOptions {
  /** Only the servers of this profile of the config. */
  readonly profile?: string;
  /** Folder that keeps listings between starts. Without it, each start has to list the server. */
  readonly cacheDirectory?: string;
  /** Age at which a listing is stale, in milliseconds. Default: one day. */
  readonly ttlMs?: number;
  /** Accepts all definitions of the server, now and later, without approval. */
  readonly trusted?: boolean;
  /**
   * Lanes of tools, by the server's names for them. Only this makes a lane weaker than the tool's name implies: a
   * server's hint to read does not.
   */
  readonly lanes?: Readonly<Record<string, Lane>>;
  /** A person's words about tools, by the server's names for them: name, description, lane, and whether it is hidden. */
  readonly tools?: Readonly<Record<string, ToolOverride>>;
  /** Description of the domain. Default: the instructions of a trusted server. */
  readonly description?: string;
  /** Scopes that a principal needs to see the entries. */
  readonly scopes?: readonly string[];
  /** Says whether a write warns, is refused or just runs if its session has not read the thing first. Default: `warn`. */
  readonly readBeforeWrite?: ReadBeforeWrite;
  /** Values for `${X}` in the config. Default: the environment. */
  readonly variables?: Variables;
  /** The environment that a server inherits a few variables of. Default: that of the process. */
  readonly environment?: Variables;
  /** Servers that several gateways share. Default: each source has a process of its own. */
  readonly shared?: SharedServers;
  /** The folder in which a server starts unless its config names one. Default: that of the process. */
  readonly cwd?: string;
  /**
   * Decides whether the server may be started or reached; asked before each use. While the answer is no, the
   * server waits like one whose definitions are not approved. Default: always.
   */
  readonly mayStart?: (program: ServerProgram) => boolean | Promise<boolean>;
  readonly limits?: Partial<UpstreamLimits>;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock;
  /**
   * Store of logins to HTTP servers. Default: a file in the folder that `KEYHOLE_STATE` names (the program sets
   * it), otherwise memory.
   */
  readonly logins?: Logins;
}

/** Source for one upstream server. See {@link fromMcpConfig}. */
export interface McpSource extends Source {
  /** Whether the server keeps state of its client, so that no other client may use the same process. */
  readonly isStateful: boolean;
  /** Describes what starting the server runs or reaches. Starts nothing. */
  program(): ServerProgram;
  /** Connects if needed and lists everything again. Rejects with UNAVAILABLE if the server is down. */
  refresh(signal?: AbortSignal): Promise<void>;
  /** Lets a person log in. Returns false if the server needs no login. Rejects with LOGIN_FAILED. */
  logIn(options: LogInOptions): Promise<boolean>;
  /** Forgets the login. Returns false if there was none. */
  logOut(): Promise<boolean>;
  /** Ends the server and starts it again. Rejects with UNAVAILABLE if it does not come up. */
  restart(): Promise<void>;
  diagnostics(): McpDiagnostics;
}

const LABEL = /^[a-z][a-z0-9_-]{0,63}$/i;
const DAY_MS = 86_400_000;
/** Delay, because scanning all processes would slow down the start. */
const SWEEP_MS = 500;

/**
 * Creates a source for one MCP server. The label becomes the domain of its entries. The server is started when an
 * entry is called, or when no fresh listing is cached.
 *
 * @throws SERVER_CONFIG_INVALID
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
  const settings: FollowUpstreamOptions = {
    label,
    config: server,
    cache: options.cacheDirectory ? createListingCache(options.cacheDirectory, label, server) : undefined,
    ttlMs: options.ttlMs ?? DAY_MS,
    trusted: options.trusted ?? false,
    lanes: options.lanes ?? {},
    tools: options.tools ?? {},
    description: options.description,
    scopes: options.scopes ?? [],
    readBeforeWrite: options.readBeforeWrite,
    variables: options.variables ?? environment,
    environment,
    shared: server.stateful ? undefined : options.shared,
    cwd: options.cwd,
    mayStart: options.mayStart,
    limits: { ...DEFAULT_LIMITS, ...options.limits, ...(server.stateful && { idleMs: 0 }) },
    clock: options.clock ?? systemClock,
    logins: options.logins ?? defaultLogins(process.env.KEYHOLE_STATE),
  };
  let followed = followUpstream(settings);
  let isUsed = false;
  return {
    id: `mcp:${label}`,
    isStateful: server.stateful ?? false,
    program: () => toServerProgram(label, server, settings),
    // Only a change of the config compares sources.
    get digest() {
      return digestOf(server, options);
    },
    contents: (signal, onFailed) => {
      sweepSoon();
      // A closed connection stays closed, and one gateway after another may follow the same source.
      if (isUsed) followed = followUpstream(settings);
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

function digestOf(
  server: ServerConfig,
  { clock: _, logins: __, shared: ___, ...options }: McpSourceOptions,
): string {
  return contentHash(JSON.parse(JSON.stringify([server, options])));
}

const kept = new Map<string, Logins>();

/** Sources share one open file. */
function defaultLogins(folder: string | undefined): Logins {
  if (!folder) return createLogins({ path: ":memory:" });
  const path = join(folder, "keyhole.db");
  const known = kept.get(path) ?? createLogins({ path });
  kept.set(path, known);
  return known;
}

let swept = false;

/** Ends, once, the server processes that killed gateways have left behind. */
function sweepSoon(): void {
  if (swept) return;
  swept = true;
  setTimeout(() => void sweepOrphans().catch(() => 0), SWEEP_MS).unref();
}
