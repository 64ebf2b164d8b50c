import { join } from "node:path";
import type { Source } from "../../schema/source.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { contentHash } from "../../util/content-hash.ts";
import { sweepOrphans } from "../../util/process-tree.ts";
import {
  invalid,
  type McpServerConfig,
  readServerConfig,
  type ServerConfig,
} from "./config/server-config.ts";
import { type FollowUpstreamOptions, followUpstream, type McpDiagnostics } from "./follow-upstream.ts";
import { createListingCache } from "./listing-cache.ts";
import type { LogInOptions } from "./login/log-in.ts";
import { createLogins, type Logins } from "./login/logins.ts";
import { DEFAULT_LIMITS, type UpstreamLimits } from "./upstream-limits.ts";

export interface McpSourceOptions {
  /** Where listings are kept between starts. Without it the server is started to be listed. */
  readonly cacheDirectory?: string;
  /** How old a kept listing may be before it is read again. Default a day. */
  readonly ttlMs?: number;
  /** Takes whatever the server defines, now and later, without approval. */
  readonly trusted?: boolean;
  /** What the server is for, in the owner's words. */
  readonly description?: string;
  /** Who must have which scopes to see it. */
  readonly scopes?: readonly string[];
  /** What `${X}` in the config stands for. Default the environment. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  readonly limits?: Partial<UpstreamLimits>;
  /** What time it is, for tests. Default the clock of the machine. */
  readonly clock?: Clock;
  /**
   * Where logins to HTTP servers are kept. Default: the file in the folder that `KEYHOLE_STATE` names, which
   * the program sets; without it they last as long as the process.
   */
  readonly logins?: Logins;
}

/** The entries of one upstream server. */
export interface McpSource extends Source {
  /** Connects and lists again. */
  refresh(signal?: AbortSignal): Promise<void>;
  /** Has a person log in to the server. False where it wants no login. Throws a problem where it fails. */
  logIn(options: LogInOptions): Promise<boolean>;
  /** Forgets the login; false where there was none. */
  logOut(): Promise<boolean>;
  diagnostics(): McpDiagnostics;
}

const LABEL = /^[a-z][a-z0-9_-]{0,63}$/i;
const DAY_MS = 86_400_000;
/** Looking through all processes takes time that a start has better use for. */
const SWEEP_MS = 500;

/**
 * A source for one MCP server, under the label that the user gave it. The server is started when one of
 * its entries is called, or when there is no listing of it that is fresh enough.
 */
export function createMcpSource(
  label: string,
  config: McpServerConfig,
  options: McpSourceOptions = {},
): McpSource {
  if (!LABEL.test(label))
    throw invalid(label, "a label has letters, digits, hyphens and underscores, and begins with a letter");
  const server = readServerConfig(label, config);
  const settings: FollowUpstreamOptions = {
    label,
    config: server,
    cache: options.cacheDirectory ? createListingCache(options.cacheDirectory, label, server) : undefined,
    ttlMs: options.ttlMs ?? DAY_MS,
    trusted: options.trusted ?? false,
    description: options.description,
    scopes: options.scopes ?? [],
    variables: options.variables ?? process.env,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    clock: options.clock ?? systemClock,
    logins: options.logins ?? defaultLogins(process.env.KEYHOLE_STATE),
  };
  let followed = followUpstream(settings);
  let isUsed = false;
  return {
    id: `mcp:${label}`,
    digest: digestOf(server, options),
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
    diagnostics: () => followed.diagnostics(),
  };
}

function digestOf(server: ServerConfig, { clock: _, logins: __, ...options }: McpSourceOptions): string {
  return contentHash(JSON.parse(JSON.stringify([server, options])));
}

const kept = new Map<string, Logins>();

/** One file, opened once, however many sources there are. */
function defaultLogins(folder: string | undefined): Logins {
  if (!folder) return createLogins({ path: ":memory:" });
  const path = join(folder, "keyhole.db");
  const known = kept.get(path) ?? createLogins({ path });
  kept.set(path, known);
  return known;
}

let swept = false;

/** Once for each process of ours: what earlier ones have left behind when they were killed. It can wait. */
function sweepSoon(): void {
  if (swept) return;
  swept = true;
  setTimeout(() => void sweepOrphans().catch(() => 0), SWEEP_MS).unref();
}
