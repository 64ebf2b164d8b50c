import { hash } from "node:crypto";
import { BARE_ENTRY } from "../../schema/bare-entry.ts";
import type { Domain, EntryDraft, EntryStatus, Lane, ReadBeforeWrite } from "../../schema/entry.ts";
import { problem } from "../../schema/problem.ts";
import type { ServerProgram } from "../../schema/server-program.ts";
import { countDrafts, type Freshness, type SourceContent } from "../../schema/source.ts";
import type { Clock } from "../../util/clock.ts";
import { contentHash } from "../../util/content-hash.ts";
import { lazy } from "../../util/lazy.ts";
import { toSummary } from "../../util/to-summary.ts";
import { untilAborted } from "../../util/until-aborted.ts";
import { toVisibleText } from "../../util/visible-text.ts";
import { type FollowedSource, followSource, type Reading } from "../follow-source.ts";
import type { ToolOverride } from "./config/overrides.ts";
import type { ServerConfig } from "./config/server-config.ts";
import { toServerProgram } from "./config/server-program.ts";
import type { Variables } from "./config/to-launch.ts";
import { inFirstTurn } from "./first-turn.ts";
import type { Listing } from "./listing.ts";
import type { ListingCache, Remembered } from "./listing-cache.ts";
import type { LogInOptions } from "./login/log-in.ts";
import type { Logins } from "./login/logins.ts";
import { createServerLogin } from "./login/server-login.ts";
import type { PackedTool } from "./packed-tools.ts";
import type { SharedServers } from "./shared-servers.ts";
import { type ListingDrafts, toDrafts } from "./to-drafts.ts";
import { createUpstream, type UpstreamDiagnostics } from "./upstream.ts";
import type { UpstreamLimits } from "./upstream-limits.ts";

export interface FollowUpstreamOptions {
  readonly label: string;
  readonly config: ServerConfig;
  readonly cache: ListingCache | undefined;
  readonly ttlMs: number;
  readonly trusted: boolean;
  readonly lanes: Readonly<Record<string, Lane>>;
  readonly tools: Readonly<Record<string, ToolOverride>>;
  readonly description: string | undefined;
  readonly scopes: readonly string[];
  readonly readBeforeWrite: ReadBeforeWrite | undefined;
  readonly variables: Variables;
  readonly environment: Variables;
  readonly cwd: string | undefined;
  readonly shared: SharedServers | undefined;
  readonly mayStart: ((program: ServerProgram) => boolean | Promise<boolean>) | undefined;
  readonly limits: UpstreamLimits;
  readonly clock: Clock;
  readonly logins: Logins;
}

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

/** One run of a server, from its cached listing to the end of its processes. */
export interface FollowedUpstream extends FollowedSource {
  /** Returns false if the server needs no login. */
  logIn(options: LogInOptions): Promise<boolean>;
  logOut(): Promise<boolean>;
  restart(): Promise<void>;
  diagnostics(): McpDiagnostics;
}

const STARTING: EntryStatus = { state: "starting", reason: "it is still starting; try again in a moment" };

interface Shown {
  readonly listing: Listing | undefined;
  readonly status: EntryStatus | undefined;
  readonly issuer: string | undefined;
  /** Made only when there is something to compare it with. */
  readonly fingerprint: () => string;
  readonly content: SourceContent;
}

export function followUpstream(options: FollowUpstreamOptions): FollowedUpstream {
  const { label, config, cache, ttlMs, trusted, lanes, tools, clock } = options;
  const login =
    config.transport === "http"
      ? createServerLogin({ ...options, config, maxBytes: options.limits.maxLineBytes })
      : undefined;
  let onChange = () => {};
  const { mayStart } = options;
  const upstream = createUpstream({
    ...options,
    login,
    mayStart: () => mayStart?.(toServerProgram(label, config, options)) ?? true,
    onChange: () => onChange(),
  });
  let kept: Remembered | undefined;
  let shown: Shown | undefined;
  let writing: Promise<void> = Promise.resolve();
  let issuer: string | undefined;
  /** Whether the first listing is waited for. */
  let isAwaited = false;
  /** Whether it takes so long that nobody waits for it any more. */
  let isSlow = false;
  let isStopped = false;
  let stopWaiting = () => {};

  function toReading(): Reading {
    keepListing();
    shown = toShown();
    const listedAt = kept?.savedAt;
    return { content: shown.content, ...(listedAt !== undefined && { oldest: listedAt, newest: listedAt }) };
  }

  function toShown(): Shown {
    const listing = upstream.listing ?? kept?.listing;
    const status = upstream.status ?? (isStarting() ? STARTING : undefined);
    const isFirst = isStarting() && !isSlow;
    const last = shown?.content.isStarting === isFirst ? shown : undefined;
    if (last && last.listing === listing && last.status === status && last.issuer === issuer) return last;
    const transport = config.transport === "stdio" ? ("pipe" as const) : ("tcp" as const);
    const { identity } = toServerProgram(label, config, options);
    const program = issuer === undefined ? identity : contentHash([identity, issuer]);
    const shared = {
      label,
      program,
      trusted,
      lanes,
      tools,
      upstream,
      status,
      timeoutMs: config.timeoutMs,
      transport,
      // Without the path and query, which may hold secrets.
      url: config.transport === "stdio" ? undefined : URL.parse(config.url)?.origin,
    };
    const made = listing
      ? toDrafts({ ...listing, tools: offered(listing, config) }, shared)
      : { drafts: status ? [standIn(label, status)] : [], kept: [] };
    const fingerprint = lazy(() => toFingerprint(made));
    if (last && last.fingerprint() === fingerprint()) return { ...last, listing, status, issuer };
    const domain = toDomain(options, trusted ? listing?.instructions : undefined);
    const waits = status && isWaiting() ? [status.reason] : [];
    const warnings = [...waits, ...cuts()];
    const { warm } = upstream;
    const domains = [{ ...domain, keptSince, leftOut, warm }];
    const content = { domains, ...made, warnings, isStarting: isFirst };
    return { listing, status, issuer, fingerprint, content };
  }

  /** Read with every answer, so that seeing the server again needs no new catalog. */
  function keptSince(): number | undefined {
    return upstream.listing === undefined ? kept?.savedAt : undefined;
  }

  function leftOut(): readonly string[] {
    return (upstream.listing ?? kept?.listing)?.leftOut ?? [];
  }

  function cuts(): string[] {
    return leftOut().map((part) => `${part} are left out`);
  }

  function keepListing(): void {
    const { listing, era } = upstream;
    if (!listing || listing === kept?.listing) return;
    const next: Remembered = { savedAt: clock.now(), ...(era && { era }), listing };
    kept = next;
    // A failed write costs the next start a listing and nothing else.
    writing = writing.then(() => cache?.write(next)).catch(() => {});
  }

  const followed = followSource({
    clock,
    ttlMs,
    restMs: upstream.restMs,
    restore: async () => {
      // A login may have listed the server before anybody follows it.
      await noteIssuer();
      if (upstream.listing) return toReading();
      kept = await cache?.read();
      upstream.recall(kept?.era);
      if (!kept) waitForFirst();
      return kept || isAwaited ? toReading() : undefined;
    },
    read: async ({ signal }) => {
      const list = () => untilAborted(upstream.refresh(), signal);
      await (isStarting() ? inFirstTurn(list, signal) : list()).catch((error: unknown) => {
        // Waiting for a consent is a state to show and no failure to repeat.
        if (!isWaiting()) throw error;
      });
      await noteIssuer();
      const reading = toReading();
      await writing;
      return reading;
    },
    watch: ({ found }) => {
      onChange = () => found(toReading());
      isStopped = false;
      return async () => {
        stopWaiting();
        isStopped = true;
        await writing;
        await upstream.close();
      };
    },
  });

  /** Begins when the server itself is waited for: reading a kept listing may take long while the machine is busy. */
  function waitForFirst(): void {
    if (isStopped) return;
    isAwaited = true;
    stopWaiting = clock.after(options.limits.startingMs, () => {
      isSlow = true;
      if (isStarting()) onChange();
    });
  }

  /** A server names the scopes it wants only when it refuses, so it is asked first. */
  async function logIn(how: LogInOptions): Promise<boolean> {
    await upstream.retry().catch(() => {});
    const missing = await login?.missing();
    if (!login || (upstream.status?.state !== "needs_login" && !missing)) return false;
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
    return isAwaited && !upstream.status && !upstream.listing && !kept;
  }

  function isWaiting(): boolean {
    return upstream.status?.state === "quarantined";
  }

  async function refresh(signal?: AbortSignal, anew?: boolean): Promise<void> {
    await followed.refresh(signal, anew);
    const { status } = upstream;
    if (isWaiting()) throw problem("UNAVAILABLE", { name: `The server ${label}`, ...status });
  }

  function freshness(): Freshness {
    const own = followed.freshness();
    const { status } = upstream;
    if (status) return { ...own, isFresh: false, lastError: status.reason };
    // The stand-in of a server that is starting is no listing, so it has no age.
    return isStarting() ? { count: 0, isFresh: false } : own;
  }

  return {
    ...followed,
    refresh,
    freshness,
    logIn,
    restart: upstream.restart,
    logOut: async () => (await login?.logOut()) ?? false,
    diagnostics: () => ({
      label,
      ...upstream.diagnostics(),
      status: upstream.status,
      listedAt: kept?.savedAt,
      fromCache: upstream.listing === undefined && kept !== undefined,
      entries: shown ? countDrafts(shown.content) : 0,
      warnings: [...((upstream.listing ?? kept?.listing)?.warnings ?? []), ...cuts()],
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
  { label, description, scopes, readBeforeWrite }: FollowUpstreamOptions,
  instructions: string | undefined,
): Domain {
  // Instructions under a heading are a manual for the server and do not say what it is for.
  const isManual = instructions?.trimStart().startsWith("#") === true;
  const told = instructions && !isManual ? toSummary(toVisibleText(instructions), 300) : undefined;
  // A server that says nothing of itself is described by the tools that the reader may see.
  const text = description ?? told ?? "";
  return { name: label, description: text, scopes, rules: [], ...(readBeforeWrite && { readBeforeWrite }) };
}

/** Stands for a server that was never listed and tells what is wrong with it. */
function standIn(label: string, status: EntryStatus): EntryDraft {
  return {
    ...BARE_ENTRY,
    kind: "resource",
    route: `${label}://resources/server`,
    domain: label,
    name: `${label} server`,
    description:
      status.state === "starting"
        ? `The MCP server ${label}, which is still starting.`
        : `The MCP server ${label}, which could not be listed yet.`,
    aliases: [label],
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
