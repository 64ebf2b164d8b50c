import { BARE_ENTRY } from "../../schema/bare-entry.ts";
import type { Domain, EntryDraft, EntryStatus } from "../../schema/entry.ts";
import type { Freshness, SourceContent } from "../../schema/source.ts";
import { cleanText } from "../../util/clean-text.ts";
import type { Clock } from "../../util/clock.ts";
import { toSummary } from "../../util/to-summary.ts";
import type { ListingCache, Remembered } from "./listing-cache.ts";
import type { LogInOptions } from "./login/log-in.ts";
import type { Logins } from "./login/logins.ts";
import { createServerLogin } from "./login/server-login.ts";
import type { ServerConfig } from "./server-config.ts";
import { toDrafts } from "./to-drafts.ts";
import { createUpstream, type UpstreamDiagnostics, type UpstreamLimits } from "./upstream.ts";

export interface RunOptions {
  readonly label: string;
  readonly config: ServerConfig;
  readonly cache: ListingCache | undefined;
  readonly ttlMs: number;
  readonly trusted: boolean;
  readonly description: string | undefined;
  readonly scopes: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly limits: UpstreamLimits;
  readonly clock: Clock;
  readonly logins: Logins;
}

export interface McpDiagnostics extends UpstreamDiagnostics {
  readonly label: string;
  readonly status: EntryStatus | undefined;
  /** Milliseconds since 1970; undefined if it was never listed. */
  readonly listedAt: number | undefined;
  /** Whether the listing in use was kept from an earlier start. */
  readonly fromCache: boolean;
  readonly entries: number;
  readonly warnings: readonly string[];
}

/** One following of a server, from what is kept of it to its end. */
export interface Run {
  contents(signal: AbortSignal): AsyncIterable<SourceContent>;
  /** Resolves when what was listed has been taken, where somebody follows. */
  refresh(): Promise<void>;
  freshness(): Freshness;
  /** False where the server wants no login. */
  logIn(options: LogInOptions): Promise<boolean>;
  logOut(): Promise<boolean>;
  diagnostics(): McpDiagnostics;
}

const LEAST_WAIT_MS = 1_000;

export function createRun(options: RunOptions): Run {
  const { label, config, cache, ttlMs, trusted, clock } = options;
  const changes = createBell();
  const login =
    config.transport === "http"
      ? createServerLogin({ ...options, config, maxBytes: options.limits.maxLineBytes })
      : undefined;
  const upstream = createUpstream({ ...options, login, onChange: changes.ring });
  let kept: Remembered | undefined;
  let listedAt: number | undefined;
  let triedAt: number | undefined;
  let drafts: readonly EntryDraft[] = [];
  let followed = false;
  /** Who waits for what has changed to be taken. */
  let waiting: (() => void)[] = [];

  async function* contents(signal: AbortSignal): AsyncIterable<SourceContent> {
    signal.addEventListener("abort", changes.ring, { once: true });
    let expiry: (() => void) | undefined;
    let shown: string | undefined;
    followed = true;
    try {
      kept = await cache?.read();
      listedAt = kept?.savedAt;
      upstream.recall(kept?.era);
      if (kept) {
        yield content();
        shown = fingerprint(drafts);
      }
      if (ageOf(listedAt) >= ttlMs) void refreshQuietly();
      while (!signal.aborted) {
        expiry = refreshLater();
        await changes.wait();
        expiry?.();
        if (signal.aborted) return;
        const served = waiting;
        waiting = [];
        await keep();
        const next = content();
        const seen = fingerprint(drafts);
        if (seen !== shown) {
          shown = seen;
          yield next;
        }
        for (const resolve of served) resolve();
      }
    } finally {
      followed = false;
      for (const resolve of waiting) resolve();
      expiry?.();
      signal.removeEventListener("abort", changes.ring);
      await upstream.close();
    }
  }

  function content(): SourceContent {
    const listing = upstream.listing ?? kept?.listing;
    const { status } = upstream;
    const transport = config.transport === "stdio" ? ("pipe" as const) : ("tcp" as const);
    const shared = { label, trusted, upstream, status, timeoutMs: config.timeoutMs, transport };
    drafts = listing ? toDrafts(listing, shared) : status ? [standIn(label, status)] : [];
    const domain = toDomain(options, trusted ? listing?.instructions : undefined);
    return { domains: [{ ...domain, keptSince }], drafts };
  }

  /** Asked with every answer, so that a server that was seen meanwhile needs no new catalog to say so. */
  function keptSince(): number | undefined {
    return upstream.listing === undefined ? kept?.savedAt : undefined;
  }

  async function keep(): Promise<void> {
    const { listing, era } = upstream;
    if (!listing || listing === kept?.listing) return;
    listedAt = clock.now();
    kept = { savedAt: listedAt, ...(era && { era }), listing };
    // The listing serves on from memory; a full disk costs the next start a listing.
    await cache?.write(kept).catch(() => {});
  }

  /** A server that is down is tried again by its upstream; one that fails to list waits as long as one that did. */
  function refreshLater(): (() => void) | undefined {
    if (upstream.status) return undefined;
    const left = ttlMs - Math.min(ageOf(listedAt), ageOf(triedAt));
    return clock.after(Math.max(left, LEAST_WAIT_MS), () => void refreshQuietly());
  }

  async function refreshQuietly(): Promise<void> {
    triedAt = clock.now();
    await upstream.refresh().catch(() => {});
    changes.ring();
  }

  async function refresh(): Promise<void> {
    await upstream.refresh();
    if (!followed) return;
    const taken = new Promise<void>((resolve) => waiting.push(resolve));
    changes.ring();
    await taken;
  }

  /** A time in the future is as old as one in the past: the clock was set. */
  function ageOf(time: number | undefined): number {
    return time === undefined ? Number.POSITIVE_INFINITY : Math.abs(clock.now() - time);
  }

  /** What scopes a server wants it says when it refuses, so it is asked first. */
  async function logIn(how: LogInOptions): Promise<boolean> {
    await upstream.retry().catch(() => {});
    const missing = await login?.missing();
    if (!login || (upstream.status?.state !== "needs_login" && !missing)) return false;
    await login.logIn(how);
    await upstream.retry().catch(() => {});
    return true;
  }

  return {
    contents,
    refresh,
    freshness: () => ({
      count: drafts.length,
      ...(listedAt !== undefined && { oldest: listedAt, newest: listedAt }),
      ttlMs,
      isFresh: ageOf(listedAt) < ttlMs && !upstream.status,
      ...(upstream.status && { lastError: upstream.status.reason }),
    }),
    logIn,
    logOut: async () => (await login?.logOut()) ?? false,
    diagnostics: () => ({
      label,
      ...upstream.diagnostics(),
      status: upstream.status,
      listedAt,
      fromCache: upstream.listing === undefined && kept !== undefined,
      entries: drafts.length,
      warnings: (upstream.listing ?? kept?.listing)?.warnings ?? [],
    }),
  };
}

function toDomain({ label, description, scopes }: RunOptions, instructions: string | undefined): Domain {
  const told = instructions && toSummary(cleanText(instructions), 300);
  const shown = description ?? (told || `What the MCP server ${label} offers.`);
  return { name: label, description: shown, scopes, rules: [] };
}

/** A server that was never listed is not silently missing: one entry says what is wrong with it. */
function standIn(label: string, status: EntryStatus): EntryDraft {
  return {
    ...BARE_ENTRY,
    kind: "resource",
    route: `${label}://resources/server`,
    domain: label,
    name: `${label} server`,
    description: `The MCP server ${label}, which could not be listed yet.`,
    aliases: [label],
    status,
    load: async () => status,
  };
}

/** The same where nothing that a catalog holds has changed. */
function fingerprint(drafts: readonly EntryDraft[]): string {
  return JSON.stringify(
    drafts.map(({ route, origin, status, presentation }) => [route, origin?.hash, status, presentation]),
  );
}

interface Bell {
  ring(): void;
  /** Resolves when it has rung since the last time. */
  wait(): Promise<void>;
}

function createBell(): Bell {
  let rung = Promise.withResolvers<void>();
  return {
    ring: () => rung.resolve(),
    wait: async () => {
      await rung.promise;
      rung = Promise.withResolvers<void>();
    },
  };
}
