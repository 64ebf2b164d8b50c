import type { Domain, EntryDraft, EntryStatus } from "../../schema/entry.ts";
import type { Source, SourceContent } from "../../schema/source.ts";
import { cleanText } from "../../util/clean-text.ts";
import { toSummary } from "../../util/to-summary.ts";
import { createListingCache, type ListingCache } from "./listing-cache.ts";
import { sweepOrphans } from "./process-tree.ts";
import { invalid, type McpServerConfig, readServerConfig } from "./server-config.ts";
import { toDrafts } from "./to-drafts.ts";
import { createUpstream, type UpstreamDiagnostics, type UpstreamLimits } from "./upstream.ts";

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

/** The entries of one upstream server. */
export interface McpSource extends Source {
  /** Connects and lists again. */
  refresh(): Promise<void>;
  diagnostics(): McpDiagnostics;
}

const LABEL = /^[a-z][a-z0-9_-]{0,63}$/i;
const DAY_MS = 86_400_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

const DEFAULT_LIMITS: UpstreamLimits = {
  concurrency: 8,
  queue: 256,
  connectMs: 30_000,
  totalMs: 600_000,
  maxLineBytes: 32 * 1024 * 1024,
  graceMs: 1_000,
  restarts: 5,
  restartWindowMs: 600_000,
  backoffMs: 250,
  breakerTimeouts: 3,
  breakerMs: 30_000,
  relistMs: 500,
};

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
  const { ttlMs = DAY_MS, trusted = false } = options;
  const cache = options.cacheDirectory
    ? createListingCache(options.cacheDirectory, label, server)
    : undefined;
  const changes = createBell();
  const upstream = createUpstream({
    label,
    config: server,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    variables: options.variables ?? process.env,
    onChange: changes.ring,
  });
  let kept: Awaited<ReturnType<ListingCache["read"]>>;
  let listedAt: number | undefined;
  let drafts: readonly EntryDraft[] = [];

  function content(): SourceContent {
    const listing = upstream.listing ?? kept?.listing;
    const { status } = upstream;
    const shared = { label, trusted, upstream, status, timeoutMs: server.timeoutMs };
    drafts = listing ? toDrafts(listing, shared) : status ? [standIn(label, status)] : [];
    return { domains: [toDomain(label, options, trusted ? listing?.instructions : undefined)], drafts };
  }

  async function keep(): Promise<void> {
    const { listing, era } = upstream;
    if (!listing || listing === kept?.listing) return;
    listedAt = Date.now();
    kept = { savedAt: listedAt, ...(era && { era }), listing };
    // The listing serves on from memory; a full disk is told by the next start, which lists again.
    await cache?.write(kept).catch(() => {});
  }

  async function* contents(signal: AbortSignal): AsyncIterable<SourceContent> {
    void sweepOnce();
    const stop = () => changes.ring();
    signal.addEventListener("abort", stop, { once: true });
    let expiry: NodeJS.Timeout | undefined;
    try {
      kept = await cache?.read();
      listedAt = kept?.savedAt;
      upstream.recall(kept?.era);
      if (kept) yield content();
      let shown = kept && fingerprint(drafts);
      if (!isFresh()) void upstream.refresh().catch(() => {});
      while (!signal.aborted) {
        expiry = refreshLater();
        await changes.wait();
        clearTimeout(expiry);
        if (signal.aborted) return;
        await keep();
        const next = content();
        const seen = fingerprint(drafts);
        if (seen === shown) continue;
        shown = seen;
        yield next;
      }
    } finally {
      clearTimeout(expiry);
      signal.removeEventListener("abort", stop);
      await upstream.close();
    }
  }

  function isFresh(): boolean {
    return listedAt !== undefined && Date.now() - listedAt < ttlMs;
  }

  function refreshLater(): NodeJS.Timeout {
    const age = Date.now() - (listedAt ?? Date.now());
    const wait = Math.min(Math.max(ttlMs - age, Math.min(ttlMs, 1_000)), MAX_TIMER_MS);
    return setTimeout(() => void upstream.refresh().catch(() => {}), wait).unref();
  }

  return {
    id: `mcp:${label}`,
    contents,
    refresh: () => upstream.refresh(),
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

function toDomain(label: string, options: McpSourceOptions, instructions: string | undefined): Domain {
  const told = instructions && toSummary(cleanText(instructions), 300);
  const description = options.description ?? (told || `What the MCP server ${label} offers.`);
  return { name: label, description, scopes: options.scopes ?? [], rules: [] };
}

/** A server that was never listed is not silently missing: one entry says what is wrong with it. */
function standIn(label: string, status: EntryStatus): EntryDraft {
  return {
    kind: "resource",
    route: `${label}://resources/server`,
    domain: label,
    name: `${label} server`,
    description: `The MCP server ${label}, which could not be listed yet.`,
    visibility: "listed",
    scopes: [],
    tags: [],
    aliases: [label],
    phrases: [],
    related: [],
    guidance: [],
    examples: [],
    notes: [],
    metadata: {},
    inputSchema: { type: "object", properties: {} },
    status,
    load: async () => status,
  };
}

/** The same where nothing that a catalog holds has changed. */
function fingerprint(drafts: readonly EntryDraft[]): string {
  return JSON.stringify(drafts.map(({ route, origin, status }) => [route, origin?.hash, status]));
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

let swept: Promise<number> | undefined;

/** Once for each process of ours: what earlier ones have left behind when they were killed. */
function sweepOnce(): Promise<number> {
  swept ??= sweepOrphans().catch(() => 0);
  return swept;
}
