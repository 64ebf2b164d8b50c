import { hash } from "node:crypto";
import { problem } from "../../base/problems/problem.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import type { Clock } from "../../base/util/clock.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { lazy } from "../../base/util/lazy.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import { untilAborted } from "../../base/util/until-aborted.ts";
import { BARE_ENTRY } from "../../core/nouns/bare-entry.ts";
import {
  type AskBefore,
  type Domain,
  type EntryDraft,
  type EntryStatus,
  type Lane,
  type ReadBeforeWrite,
  stricterAsk,
} from "../../core/nouns/entry.ts";
import type { ServerProgram } from "../../core/nouns/server-program.ts";
import { countDrafts, type Freshness, type SourceContent } from "../../core/nouns/source.ts";
import { followSource, type Reading } from "../follow-source.ts";
import type { ToolOverride } from "./config/overrides.ts";
import type { ChangePolicy, ServerConfig } from "./config/server-config.ts";
import { toServerProgram } from "./config/server-program.ts";
import type { LaunchOptions, LaunchVariables } from "./config/to-launch.ts";
import type { DraftOptions } from "./entry-request.ts";
import type { Listing } from "./listing.ts";
import type { ListingCache, Remembered } from "./listing-cache.ts";
import type { LogInOptions } from "./login/log-in.ts";
import type { Logins } from "./login/logins.ts";
import { createServerLogin } from "./login/server-login.ts";
import type { PackedTool } from "./packed-tools.ts";
import type { SharedServers } from "./shared-servers.ts";
import { type ListingDrafts, toDrafts } from "./to-drafts.ts";
import { createUpstream, inFirstTurn, type UpstreamDiagnostics } from "./upstream.ts";
import type { UpstreamLimits, UpstreamTarget } from "./upstream-target.ts";

/** Options of {@link fromMcpConfig} and {@link createMcpSource}. */
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
   * Whether a change of descriptions alone, which steers no model, waits for a person's approval. The `changes` of the
   * server's config wins. Default: `ask`.
   */
  readonly changes?: ChangePolicy;
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
  /**
   * Says whether a write warns, is refused or just runs if its session has not read the thing first. Default: warn
   * about changes, but not about tools that create something.
   */
  readonly readBeforeWrite?: ReadBeforeWrite;
  /** The tools whose calls need a person's approval. The `ask` of a server's config or of the gateway may be stricter. */
  readonly ask?: AskBefore;
  /** Values for `${X}` in the config. Default: the environment. */
  readonly variables?: LaunchVariables;
  /** The environment that a server inherits a few variables of. Default: that of the process. */
  readonly environment?: LaunchVariables;
  /** Servers that several gateways share. Default: each source has a process of its own. */
  readonly shared?: SharedServers;
  /** Isolates servers unless their config says `sandbox: false`. Default: only those whose config has a `sandbox`. */
  readonly isolation?: LaunchOptions["isolation"];
  /** The folder in which a server starts unless its config names one. Default: that of the process. */
  readonly cwd?: string;
  /**
   * Decides whether the server may be started or reached; asked before each use. While the answer is no, the
   * server waits like one whose definitions are not approved. Default: always.
   */
  readonly mayStart?: (program: ServerProgram) => boolean | Promise<boolean>;
  readonly limits?: Partial<UpstreamLimits>;
  /** Writes a command that a person has to type, such as `["login", "files"]`. Default: `keyhole login files`. */
  readonly commandFor?: (words: readonly string[]) => string;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock;
  /**
   * Store of logins to HTTP servers. Default: a file in the folder that `KEYHOLE_STATE` names (the program sets
   * it), otherwise memory.
   */
  readonly logins?: Logins;
}

/** One server with its options. */
export type FollowUpstreamOptions = UpstreamTarget &
  McpSourceOptions & { readonly logins: Logins; readonly cache: ListingCache | undefined };

/** State of an upstream server and of its listing. */
export interface McpDiagnostics extends UpstreamDiagnostics {
  readonly label: string;
  readonly status: EntryStatus | undefined;
  /** Milliseconds since 1970; undefined if the server was never listed. */
  readonly listedAt: number | undefined;
  /** Whether the listing in use is from an earlier start. */
  readonly fromCache: boolean;
  readonly entries: number;
  readonly warnings: readonly string[];
}

const STARTING: EntryStatus = { state: "starting", reason: "it is still starting; try again in a moment" };

/**
 * Whether a search waits for the first listing of a server that has none stored: `awaited` until it comes or takes
 * too long (`slow`). A server that was stopped is not waited for.
 */
type FirstListing = "not awaited" | "awaited" | "slow" | "stopped";

interface ShownServer {
  readonly listing: Listing | undefined;
  readonly status: EntryStatus | undefined;
  readonly issuer: string | undefined;
  /** Made only when there is something to compare it with. */
  readonly fingerprint: () => string;
  readonly content: SourceContent;
}

const DAY_MS = 86_400_000;

/** One run of a server, from its cached listing to the end of its processes. */
export function followUpstream(options: FollowUpstreamOptions) {
  const { label, config, cache, clock, mayStart } = options;
  const { commandFor = (words) => `keyhole ${words.join(" ")}` } = options;
  const { ttlMs = DAY_MS, trusted = false, lanes = {}, tools = {} } = options;
  const login =
    config.transport === "http"
      ? createServerLogin({ ...options, config, maxBytes: options.limits.maxLineBytes })
      : undefined;
  let onChange = () => {};
  const upstream = createUpstream({
    ...options,
    login,
    mayStart: () => mayStart?.(toServerProgram(label, config, options)) ?? true,
    onChange: () => onChange(),
  });
  const { state } = upstream;
  /** The listing that is stored for the next start. */
  let stored: Remembered | undefined;
  let shown: ShownServer | undefined;
  let writing: Promise<void> = Promise.resolve();
  let issuer: string | undefined;
  let wait: FirstListing = "not awaited";
  let stopWaiting = () => {};

  function toReading(): Reading {
    storeListing();
    shown = toShown();
    const listedAt = stored?.savedAt;
    return { content: shown.content, ...(listedAt !== undefined && { oldest: listedAt, newest: listedAt }) };
  }

  function toShown(): ShownServer {
    const listing = currentListing();
    const status = state.status ?? (isStarting() ? STARTING : undefined);
    const isFirst = isStarting() && wait === "awaited";
    const last = shown?.content.isStarting === isFirst ? shown : undefined;
    if (last && last.listing === listing && last.status === status && last.issuer === issuer) return last;
    const { identity } = toServerProgram(label, config, options);
    const server: DraftOptions = {
      ...{ label, trusted, lanes, tools, upstream, status, timeoutMs: config.timeoutMs },
      approvedBy: commandFor(["approve", label]),
      wordingOk: (config.changes ?? options.changes) === "wording-ok",
      program: issuer === undefined ? identity : contentHash([identity, issuer]),
      transport: config.transport === "stdio" ? "pipe" : "tcp",
      // Without the path and query, which may hold secrets.
      url: config.transport === "stdio" ? undefined : URL.parse(config.url)?.origin,
    };
    const listed = listing
      ? toDrafts({ ...listing, tools: offered(listing, config) }, server)
      : { drafts: status ? [standIn(options, status)] : [], kept: [] };
    const fingerprint = lazy(() => toFingerprint(listed));
    if (last && last.fingerprint() === fingerprint()) return { ...last, listing, status, issuer };
    const domain = toDomain(options, trusted ? listing?.instructions : undefined);
    const content = {
      domains: [{ ...domain, keptSince, leftOut, warm: upstream.warm }],
      ...listed,
      warnings: cuts(),
      isStarting: isFirst,
    };
    return { listing, status, issuer, fingerprint, content };
  }

  /** Computed for each answer, so that the first listing of this start needs no new catalog. */
  function keptSince(): number | undefined {
    return state.listing === undefined ? stored?.savedAt : undefined;
  }

  function currentListing(): Listing | undefined {
    return state.listing ?? stored?.listing;
  }

  function leftOut(): readonly string[] {
    return currentListing()?.leftOut ?? [];
  }

  function cuts(): string[] {
    return leftOut().map((part) => `${part} are left out`);
  }

  function storeListing(): void {
    const { listing, era } = state;
    if (!listing || listing === stored?.listing) return;
    const next: Remembered = { savedAt: clock.now(), ...(era && { era }), listing };
    stored = next;
    // A failed write costs the next start a listing and nothing else.
    writing = writing.then(() => cache?.write(next)).catch(() => {});
  }

  const followed = followSource({
    clock,
    ttlMs,
    retryAfterMs: upstream.retryAfterMs,
    restore: async () => {
      // A login may have listed the server before anybody follows it.
      await noteIssuer();
      if (state.listing) return toReading();
      stored = await cache?.read();
      upstream.recall(stored?.era);
      if (!stored) waitForFirst();
      return stored || wait === "awaited" ? toReading() : undefined;
    },
    read: async ({ signal }) => {
      const list = () => untilAborted(upstream.relist(), signal);
      await (isStarting() ? inFirstTurn(list, signal) : list()).catch((error: unknown) => {
        // Waiting for a consent is a state to show and no failure to repeat.
        if (!needsConsent()) throw error;
      });
      await noteIssuer();
      const reading = toReading();
      await writing;
      return reading;
    },
    watch: ({ found }) => {
      onChange = () => found(toReading());
      wait = "not awaited";
      return async () => {
        stopWaiting();
        wait = "stopped";
        await writing;
        await upstream.close();
      };
    },
  });

  /** The wait does not include reading a stored listing, which may take long on a busy machine. */
  function waitForFirst(): void {
    if (wait === "stopped") return;
    wait = "awaited";
    stopWaiting = clock.after(options.limits.startingMs, () => {
      wait = "slow";
      if (isStarting()) onChange();
    });
  }

  /** A server names the scopes it wants only when it refuses, so it is asked first. */
  async function logIn(how: LogInOptions): Promise<boolean> {
    await upstream.retry().catch(() => {});
    const missing = await login?.missing();
    if (!login || (state.status?.state !== "needs_login" && !missing)) return false;
    await login.logIn(how);
    await noteIssuer();
    await upstream.retry().catch(() => {});
    return true;
  }

  /** Approvals are bound to the issuer, too. A config that cannot be used has none; the start says why. */
  async function noteIssuer(): Promise<void> {
    issuer = await login?.issuer().catch(() => undefined);
  }

  function isStarting(): boolean {
    return (wait === "awaited" || wait === "slow") && !state.status && !currentListing();
  }

  function needsConsent(): boolean {
    return state.status?.state === "quarantined";
  }

  async function refresh(signal?: AbortSignal): Promise<void> {
    await followed.refresh(signal);
    const { status } = state;
    if (status && needsConsent()) throw problem("UNAVAILABLE", { name: `The server ${label}`, ...status });
  }

  function freshness(): Freshness {
    const known = followed.freshness();
    if (state.status) {
      const isWaiting = needsConsent() || state.status.state === "needs_login";
      const reason = state.status.reason;
      return { ...known, state: isWaiting ? "waiting" : "failed", isFresh: false, lastError: reason };
    }
    // The stand-in of a server that is starting is no listing, so it has no age.
    if (isStarting()) return { state: "starting", count: 0, isFresh: false };
    return keptSince() === undefined ? known : { state: "kept", ...known };
  }

  return {
    ...followed,
    refresh,
    freshness,
    logIn,
    restart: upstream.restart,
    logOut: async () => login?.logOut() ?? false,
    diagnostics: (): McpDiagnostics => ({
      label,
      ...upstream.diagnostics(),
      status: state.status,
      listedAt: stored?.savedAt,
      fromCache: state.listing === undefined && stored !== undefined,
      entries: shown ? countDrafts(shown.content) : 0,
      warnings: [...(currentListing()?.warnings ?? []), ...cuts()],
    }),
  };
}

/** The tools without those that the config excludes. */
function offered(
  { tools }: Listing,
  { includeTools, excludeTools = [] }: ServerConfig,
): readonly PackedTool[] {
  return tools.tools.filter(
    ({ name }) => (includeTools?.includes(name) ?? true) && !excludeTools.includes(name),
  );
}

function toDomain(
  { label, description, scopes = [], readBeforeWrite, ...options }: FollowUpstreamOptions,
  instructions: string | undefined,
): Domain {
  // Instructions under a heading are a manual for the server and do not say what it is for.
  const isManual = instructions?.trimStart().startsWith("#") === true;
  const summary = instructions && !isManual ? toSummary(toVisibleText(instructions), 300) : undefined;
  // A server without a description is described by the tools that the reader may see.
  const text = description ?? summary ?? "";
  const { aliases } = options.config;
  const ask = stricterAsk(options.ask, options.config.ask);
  return {
    name: label,
    ...(aliases && { aliases }),
    description: text,
    scopes,
    rules: [],
    ...(readBeforeWrite && { readBeforeWrite }),
    ...(ask !== "confirmed" && { ask }),
  };
}

/** Stands for a server that was never listed, with the reason. */
function standIn(
  { label, config: { aliases = [] } }: FollowUpstreamOptions,
  status: EntryStatus,
): EntryDraft {
  return {
    ...BARE_ENTRY,
    kind: "resource",
    route: `${label}://resources/server`,
    domain: label,
    name: `${label} server`,
    description: `The MCP server ${label}, which ${status.state === "starting" ? "is still starting" : "could not be listed yet"}.`,
    aliases: [label, ...aliases],
    status,
    load: async () => status,
  };
}

/** Equal for drafts that make the same catalog. */
function toFingerprint({ drafts, kept }: ListingDrafts): string {
  const whole = drafts.map(({ route, origin, status, presentation }) => [
    route,
    origin?.hash,
    origin?.program,
    status,
    presentation,
  ]);
  return hash("sha256", JSON.stringify([whole, kept.map(({ route, digest }) => `${route} ${digest}`)]));
}
