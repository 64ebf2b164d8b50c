import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { lazy } from "../../base/util/lazy.ts";
import { nearest } from "../../base/util/nearest.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { singleFlight } from "../../base/util/single-flight.ts";
import { untilAborted } from "../../base/util/until-aborted.ts";
import { catalogInvalid } from "../../core/catalog/catalog-errors.ts";
import {
  countDrafts,
  type Freshness,
  type Source,
  type SourceContent,
  type SourceState,
} from "../../core/nouns/source.ts";
import { publish } from "../../core/telemetry/events.ts";
import { WAITS } from "./availability.ts";
import type { CatalogStore, Changes } from "./catalog-store.ts";
import { type InFlight, withTimeout } from "./in-flight.ts";

/** Id of the domains that are defined in code. */
export const CODE = "code";

/** Id and state of a source, and the age of its content. */
export interface SourceStatus extends Freshness {
  readonly id: string;
  readonly state: SourceState;
}

/** A source that could not be read. Its earlier content stays in use. */
export interface FailedSource {
  readonly source: string;
  readonly problem: Problem;
}

/** Outcome of reading all sources. */
export interface LifecycleResult {
  /** Whether every source was fresh before the call. */
  readonly wasFresh: boolean;
  readonly failed: readonly FailedSource[];
}

/** The sources in use. Passes their content on to the catalog. */
export type SourceManager = ReturnType<typeof createSourceManager>;

/** One run of a source, from its first content to its end. */
interface ManagedSource {
  readonly source: Source;
  readonly stop: AbortController;
  /** Resolves when the source has delivered or failed. */
  readonly offered: Promise<void>;
  /** Resolves when its first content is in the catalog, or there is none. */
  readonly first: Promise<void>;
  readonly ended: Promise<void>;
  readonly refresh: (signal?: AbortSignal) => Promise<void>;
  /** Whether the next read also fetches documents that seem unchanged. */
  force: boolean;
  running: boolean;
  entries: number;
  takenAt?: number;
  error?: unknown;
}

export function createSourceManager(live: CatalogStore, first: readonly Source[], calls: InFlight) {
  checkIds(first);
  let sources = first;
  const followed = new Map<string, ManagedSource>();
  const retiring = new Set<ManagedSource>();
  let turn: Promise<unknown> = Promise.resolve();
  let closed = false;

  function follow(source: Source): ManagedSource {
    const offered = Promise.withResolvers<void>();
    const first = Promise.withResolvers<void>();
    const stop = new AbortController();
    const following: ManagedSource = {
      source,
      stop,
      offered: offered.promise,
      first: first.promise,
      ended: Promise.resolve().then(run),
      refresh: singleFlight((signal) =>
        readAgain(following, signal).catch((error: unknown) => {
          const detail = reasonOf(error);
          if (!signal.aborted) publish({ type: "source", source: source.id, state: "failed", detail });
          throw error;
        }),
      ),
      force: false,
      running: true,
      entries: 0,
    };
    followed.set(source.id, following);
    if (closed) stop.abort();

    async function run(): Promise<void> {
      try {
        for await (const content of source.contents(stop.signal, onFailed)) {
          offered.resolve();
          // Another source may have replaced this one.
          if (followed.get(source.id) === following) await take(following, content);
          if (!content.isStarting) first.resolve();
        }
      } catch (error) {
        if (!stop.signal.aborted) fail(following, error);
      }
      following.running = false;
      offered.resolve();
      first.resolve();
    }

    function onFailed(error: unknown): void {
      if (source.freshness) tellFailure(source.id, error);
      else fail(following, error);
      offered.resolve();
      first.resolve();
    }
    return following;
  }

  async function take(following: ManagedSource, content: SourceContent): Promise<void> {
    const { id } = following.source;
    for (const detail of content.warnings ?? []) {
      publish({ type: "notice", notice: "content-failed", detail: `${id}: ${detail}` });
    }
    try {
      await live.update({ [id]: content });
      if (content.isStarting) return;
      following.entries = countDrafts(content);
      following.takenAt = Date.now();
      delete following.error;
      // Entries of a server that is down are shown with the reason; the failure is an event of its own.
      if (statusOf(following).state !== "failed")
        publish({ type: "source", source: id, state: "loaded", entries: following.entries });
    } catch (error) {
      fail(following, error);
    }
  }

  function fail(following: ManagedSource, error: unknown): void {
    following.error = error;
    tellFailure(following.source.id, error);
  }

  function tellFailure(id: string, error: unknown): void {
    if (closed) return;
    const detail = reasonOf(error);
    publish({ type: "notice", notice: "source-refused", detail: `${id}: ${detail}` });
    publish({ type: "source", source: id, state: "failed", detail });
  }

  async function readAgain(following: ManagedSource, signal: AbortSignal): Promise<void> {
    const { source, force, running } = following;
    if (running && !source.refresh) {
      const reason = `${source.id} decides by itself when it is read`;
      throw following.error ?? problem("INVALID_INPUT", { operation: "refreshSource", reason });
    }
    publish({ type: "source", source: source.id, state: "loading" });
    following.force = false;
    if (running) await source.refresh?.(signal, force);
    else await follow(source).first;
    const { error } = followed.get(source.id) ?? following;
    if (error !== undefined) throw error;
  }

  /** Starts the sources, once. Resolves when each has delivered, failed or taken too long. */
  const begin = lazy((): Promise<void> => {
    const begun = sources.map(follow);
    const delivered =
      begun.length > 0
        ? withTimeout(Promise.all(begun.map(({ first }) => first)), WAITS.firstContentMs)
        : // Without sources, nothing else compares the catalog with the restored snapshot.
          live.update({});
    return live.begin(gathered(begun), delivered);
  });

  async function replace(next: readonly Source[], changes: Changes = {}): Promise<void> {
    checkIds(next);
    await begin();
    const ids = new Set(next.map(({ id }) => id));
    const gone = [...followed.keys()].filter((id) => !ids.has(id));
    const others = next.filter((source) => !isSame(followed.get(source.id)?.source, source));
    await live.update({ ...changes, ...nothingOf(gone) });
    sources = next;
    const old = [...gone, ...others.map(({ id }) => id)].flatMap((id) => followed.get(id) ?? []);
    for (const id of gone) {
      followed.delete(id);
      publish({ type: "source", source: id, state: "removed" });
    }
    const begun = others.map(follow);
    await withTimeout(Promise.all(begun.map(({ first }) => first)), WAITS.firstContentMs);
    // The old content of a changed source goes, even if the new content is late.
    const silent = begun.filter(({ takenAt }) => takenAt === undefined).map(({ source }) => source.id);
    if (silent.length > 0) await live.update(nothingOf(silent));
    for (const following of old) void retire(following);
  }

  /** Ends a source after the calls that may still use it. */
  async function retire(following: ManagedSource): Promise<void> {
    retiring.add(following);
    const { signal } = following.stop;
    if (!signal.aborted)
      await withTimeout(untilAborted(calls.settled(), signal), WAITS.drainMs).catch(() => {});
    following.stop.abort();
    await following.ended;
    retiring.delete(following);
  }

  /** Finds a source by its id, or by the label in its id if only one source has that label. */
  function find(name: string): ManagedSource {
    const ids = [...followed.keys()];
    const labels = Map.groupBy(ids, (id) => id.slice(id.indexOf(":") + 1));
    const [id, ...more] = followed.has(name) ? [name] : (labels.get(name) ?? []);
    if (id !== undefined && more.length === 0) return followed.get(id)!;
    const near = nearest(name, [...ids, ...labels.keys()]).flatMap((found) => labels.get(found) ?? found);
    throw problem("NOT_FOUND", { name: `source ${cutText(name, 128)}` }, { nearest: [...new Set(near)] });
  }

  /** Failures are collected; only the caller's signal makes it throw. */
  async function readAll(
    chosen: readonly ManagedSource[],
    signal: AbortSignal,
    read: (following: ManagedSource) => Promise<void>,
  ): Promise<LifecycleResult> {
    const wasFresh = [...followed.values()].every((following) => statusOf(following).isFresh);
    const failed: FailedSource[] = [];
    await Promise.all(
      chosen.map(async (following) => {
        const { id } = following.source;
        await read(following).catch((error) => failed.push({ source: id, problem: toProblem(id, error) }));
      }),
    );
    signal.throwIfAborted();
    return { wasFresh, failed };
  }

  /** Reads the sources that are not fresh. */
  const restart = singleFlight((signal) => {
    const stale = [...followed.values()].filter((following) => !following.running || isStale(following));
    return readAll(stale, signal, async (following) => {
      // A source that is still starting reads everything anyway.
      if (following.running && following.takenAt === undefined && following.source.refresh) {
        await untilAborted(following.offered, signal);
        await following.first;
        if (!isStale(following)) return;
      }
      await following.refresh(signal);
    });
  });

  /** Reads all sources and indexes everything again. */
  const rebuild = singleFlight(async (signal) => {
    const all = [...followed.values()];
    for (const following of all) following.force = true;
    const readable = all.filter((one) => one.source.refresh || !one.running || one.error !== undefined);
    const result = await readAll(readable, signal, (following) => following.refresh(signal));
    await live.reindex();
    return result;
  });

  return {
    begin,
    /** Replaces the sources, together with other changes. Sources that stay the same keep running. */
    replace: (next: readonly Source[], changes?: Changes): Promise<void> => {
      const done = turn.then(() => replace(next, changes));
      turn = done.catch(() => {});
      return done;
    },
    /** Reads one source again. Rejects if that fails. */
    refresh: async (id: string, signal?: AbortSignal): Promise<void> => {
      const following = find(id);
      await cancellable(`Refreshing ${following.source.id}`, following.refresh(signal), signal);
    },
    refreshStale: (signal?: AbortSignal) => cancellable("The restart", restart(signal), signal),
    rebuild: (signal?: AbortSignal) => cancellable("The rebuild", rebuild(signal), signal),
    status: (id: string): SourceStatus => statusOf(find(id)),
    list: (): SourceStatus[] => sources.flatMap(({ id }) => followed.get(id) ?? []).map(statusOf),
    inUse: (): readonly Source[] => sources,
    close: async (): Promise<void> => {
      closed = true;
      const all = [...followed.values(), ...retiring];
      for (const { stop } of all) stop.abort();
      // Sources may have processes to end.
      await withTimeout(Promise.all(all.map(({ ended }) => ended)), WAITS.closeMs);
    },
  };
}

/** Waits while sources deliver soon after each other. */
async function gathered(begun: readonly ManagedSource[]): Promise<void> {
  const end = performance.now() + WAITS.longestGatherMs;
  const waiting = new Set(begun);
  const offers = begun.map(async (following) => {
    await following.offered;
    waiting.delete(following);
  });
  const all = Promise.all(offers);
  for (let before = -1; waiting.size > 0 && waiting.size !== before && performance.now() < end; ) {
    before = waiting.size;
    await withTimeout(all, WAITS.gatherMs);
  }
}

function statusOf({ source, entries, takenAt, error }: ManagedSource): SourceStatus {
  const times = takenAt === undefined ? {} : { oldest: takenAt, newest: takenAt };
  const freshness = source.freshness?.() ?? { count: entries, ...times, isFresh: takenAt !== undefined };
  return {
    id: source.id,
    state: takenAt === undefined ? "unknown" : "listed",
    ...freshness,
    ...(error !== undefined && { state: "failed", isFresh: false, lastError: reasonOf(error) }),
  };
}

function isStale(following: ManagedSource): boolean {
  const { source, running, error } = following;
  if (running && !source.refresh) return error !== undefined;
  return !statusOf(following).isFresh;
}

function toProblem(id: string, error: unknown): Problem {
  if (isProblem(error)) return error;
  return problem("CALL_FAILED", { name: id, reason: reasonOf(error), advice: "Refresh the source later." });
}

/** The catalog holds content by source id, so a second source with an id would replace the first. */
function checkIds(sources: readonly Source[]): void {
  const ids = [CODE, ...sources.map(({ id }) => id)];
  const doubled = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
  if (doubled.length === 0) return;
  throw catalogInvalid(doubled.map((id) => `source ${id}: this id is used more than once`));
}

function isSame(running: Source | undefined, other: Source): boolean {
  return running === other || (running?.digest !== undefined && running.digest === other.digest);
}

function nothingOf(ids: readonly string[]): Changes {
  return Object.fromEntries(ids.map((id) => [id, null]));
}

async function cancellable<T>(name: string, work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (signal?.aborted && !isProblem(error)) throw problem("CANCELLED", { name });
    throw error;
  }
}
