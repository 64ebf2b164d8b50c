import type { FetchContext } from "../../schema/pipeline.ts";
import type { Freshness, Source, SourceContent } from "../../schema/source.ts";
import type { Clock } from "../../util/clock.ts";
import { createOutlet } from "../../util/outlet.ts";
import { reasonOf } from "../../util/reason-of.ts";
import { singleFlight } from "../../util/single-flight.ts";
import type { ContentStore } from "./content-store.ts";
import type { HeldContent } from "./held-content.ts";
import { readDocuments } from "./read-documents.ts";
import { createToDrafts, type PipelinePlace } from "./to-drafts.ts";

export interface ContentSourceOptions extends PipelinePlace {
  readonly store: ContentStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onProgress: FetchContext["progress"];
  /** A reading failed that nobody but the source itself had asked for. */
  onFailed(reason: string): void;
}

const DEFAULT_TTL_MS = 4 * 60 * 60_000;
const LEAST_WAIT_MS = 1_000;
const FIRST_RETRY_MS = 60_000;

/**
 * The documents of one pipeline. What is held and fresh is shown without a request; what is stale is shown and
 * read again behind it; local content is read at every start. Only a whole reading takes the place of another.
 */
export function createContentSource(options: ContentSourceOptions): Source {
  const { id, pipeline, store, clock } = options;
  const { source, cacheTtlMs: ttlMs = DEFAULT_TTL_MS } = pipeline;
  const toDrafts = createToDrafts(options);
  let outlet = createOutlet<SourceContent>();
  let held: HeldContent | undefined;
  let lastError: string | undefined;
  let failures = 0;
  /** Whether the next reading fetches also what has the version that is held. */
  let wantsAll = false;
  let expiry: (() => void) | undefined;
  let following: AbortSignal | undefined;

  const load = singleFlight(async (signal) => {
    const all = wantsAll;
    wantsAll = false;
    try {
      const reading = { signal, progress: options.onProgress, now: clock.now, all };
      held = await readDocuments(source, held, reading);
      lastError = undefined;
      failures = 0;
      await store.write(id, source, held).catch((error: unknown) => {
        options.onFailure(`${id} is not kept for the next start: ${reasonOf(error)}`);
      });
      await show();
    } catch (error) {
      wantsAll ||= all;
      if (!signal.aborted) {
        lastError = reasonOf(error);
        failures += 1;
        options.onFailure(`${id}: ${lastError}`);
      }
      throw error;
    } finally {
      refreshLater();
    }
  });

  function show(): Promise<void> {
    return outlet.put({ domains: [], drafts: toDrafts(held?.documents ?? []) });
  }

  async function begin(signal: AbortSignal): Promise<void> {
    held ??= await store.read(id, source);
    if (held && !source.isLocal) {
      void show();
      if (freshness().isFresh) return refreshLater();
    }
    // Without content the first yield is an empty one: a start does not wait for what failed.
    if (!(await loadQuietly(signal))) void show();
  }

  async function loadQuietly(signal: AbortSignal): Promise<boolean> {
    try {
      await load(signal);
      return true;
    } catch (error) {
      if (!signal.aborted) options.onFailed(reasonOf(error));
      return false;
    }
  }

  /** A part of the time is chance: pipelines that were loaded together are not read again together. */
  function refreshLater(): void {
    expiry?.();
    const signal = following;
    if (!signal || signal.aborted || ttlMs === 0) return;
    const chance = options.random();
    const left = held ? held.readAt + ttlMs * (0.9 + chance / 10) - clock.now() : ttlMs;
    const retry = Math.min(ttlMs, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 16)) * (0.5 + chance / 2);
    const wait = Math.min(failures > 0 ? retry : left, ttlMs);
    expiry = clock.after(Math.max(wait, LEAST_WAIT_MS), () => void loadQuietly(signal));
  }

  function freshness(): Freshness {
    const times = held?.documents.map(({ seenAt }) => seenAt) ?? [];
    const oldest = times.reduce((least, time) => Math.min(least, time), held?.readAt ?? 0);
    const newest = times.reduce((most, time) => Math.max(most, time), 0);
    // A time in the future is as old as one in the past: the clock was set.
    const isFresh = held !== undefined && !source.isLocal && Math.abs(clock.now() - oldest) < ttlMs;
    return {
      count: times.length,
      ...(held && { oldest, newest: newest || held.readAt }),
      ttlMs: source.isLocal ? 0 : ttlMs,
      isFresh,
      ...(lastError !== undefined && { lastError }),
    };
  }

  return {
    id,
    contents: async function* (signal) {
      const own = createOutlet<SourceContent>();
      outlet = own;
      following = signal;
      void begin(signal);
      try {
        yield* own.values(signal);
      } finally {
        if (following === signal) expiry?.();
      }
    },
    refresh: async (signal, anew = false) => {
      wantsAll ||= anew;
      await load(signal);
      // What it joined may have begun before.
      if (wantsAll) await load(signal);
    },
    freshness,
  };
}
