import type { Changes, LiveCatalog } from "./live-catalog.ts";
import { isProblem, problem } from "./schema/problem.ts";
import type { Freshness, Source } from "./schema/source.ts";
import { publish } from "./telemetry/events.ts";
import { cutText } from "./util/cut-text.ts";
import type { InFlight } from "./util/in-flight.ts";
import { nearest } from "./util/nearest.ts";
import { reasonOf } from "./util/reason-of.ts";
import { singleFlight } from "./util/single-flight.ts";

/** The id of what is written in code, which is there before any source. */
export const CODE = "code";

/** A source by its id, and how old what it has is. */
export interface SourceStatus extends Freshness {
  readonly id: string;
}

/** Outcome of reading all sources. */
export interface LifecycleResult {
  /** Whether every source was fresh before the call. */
  readonly wasFresh: boolean;
  readonly failed: readonly { readonly source: string; readonly problem: Error }[];
}

/** The sources in use, and their contents on the way to the catalog. */
export interface LiveSources {
  /** Starts them, once. Resolves when each has yielded, or has taken too long, and all can be found. */
  ready(): Promise<void>;
  /** Puts others in their place, with changes that go along. What stays the same runs on. */
  replace(sources: readonly Source[], changes?: Changes): Promise<void>;
  /** Reads a source again. */
  refresh(id: string, signal?: AbortSignal): Promise<void>;
  /** Reads again what is not fresh. */
  restart(signal?: AbortSignal): Promise<LifecycleResult>;
  /** Reads everything again, and indexes it again. */
  rebuild(signal?: AbortSignal): Promise<LifecycleResult>;
  status(id: string): SourceStatus;
  list(): SourceStatus[];
  close(): Promise<void>;
}

/** One following of a source, from its first content to its end. */
interface Following {
  readonly source: Source;
  readonly stop: AbortController;
  /** Something was offered; something was taken; it has ended. */
  readonly offered: Promise<void>;
  readonly first: Promise<void>;
  readonly ended: Promise<void>;
  readonly refresh: (signal?: AbortSignal) => Promise<void>;
  anew: boolean;
  running: boolean;
  entries: number;
  takenAt?: number;
  error?: unknown;
}

const FIRST_YIELD_MS = 10_000;
const LAST_WORD_MS = 10_000;
/** How long the first catalog waits for sources that are quick, so that it is not built once for each. */
const GATHER_MS = 100;
/** How long calls in flight may go on with a source that was removed. */
const DRAIN_MS = 60_000;

export function createLiveSources(live: LiveCatalog, given: readonly Source[], calls: InFlight): LiveSources {
  checkIds(given);
  let sources = given;
  const followed = new Map<string, Following>();
  const retiring = new Set<Following>();
  let started: Promise<void> | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let closed = false;

  function follow(source: Source): Following {
    const offered = Promise.withResolvers<void>();
    const first = Promise.withResolvers<void>();
    const stop = new AbortController();
    const following: Following = {
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
      anew: false,
      running: true,
      entries: 0,
    };
    followed.set(source.id, following);
    if (closed) stop.abort();

    async function run(): Promise<void> {
      try {
        for await (const content of source.contents(stop.signal)) {
          offered.resolve();
          // Another may have taken its place since.
          if (followed.get(source.id) === following) await take(following, content);
          first.resolve();
        }
      } catch (error) {
        if (!stop.signal.aborted) failed(following, error);
      }
      following.running = false;
      offered.resolve();
      first.resolve();
    }
    return following;
  }

  async function take(following: Following, content: NonNullable<Changes[string]>): Promise<void> {
    const { id } = following.source;
    for (const detail of content.warnings ?? []) {
      publish({ type: "notice", notice: "content-failed", detail: `${id}: ${detail}` });
    }
    try {
      await live.update({ [id]: content });
      following.entries = content.drafts.length;
      following.takenAt = Date.now();
      delete following.error;
      publish({ type: "source", source: id, state: "loaded", entries: following.entries });
    } catch (error) {
      failed(following, error);
    }
  }

  async function readAgain(following: Following, signal: AbortSignal): Promise<void> {
    const { source } = following;
    publish({ type: "source", source: source.id, state: "loading" });
    const { anew } = following;
    following.anew = false;
    if (source.refresh && following.running) await source.refresh(signal, anew);
    else if (!following.running) await follow(source).first;
    else
      throw problem("INVALID_INPUT", { operation: "refreshSource", reason: `${source.id} yields by itself` });
    const { error } = followed.get(source.id) ?? following;
    if (error !== undefined) throw error;
  }

  async function start(): Promise<void> {
    await live.fill();
    const begun = sources.map(follow);
    live.gather(soonest(Promise.all(begun.map(({ offered }) => offered)), GATHER_MS));
    await soonest(Promise.all(begun.map(({ first }) => first)), FIRST_YIELD_MS);
    // Without sources nothing has yet been compared with what a snapshot held.
    if (begun.length === 0) await live.update({});
    live.settle();
  }

  function ready(): Promise<void> {
    started ??= start();
    return started;
  }

  async function replace(next: readonly Source[], changes: Changes = {}): Promise<void> {
    checkIds(next);
    await ready();
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
    await soonest(Promise.all(begun.map(({ first }) => first)), FIRST_YIELD_MS);
    // What was changed and has not come yet does not go on as it was.
    const silent = begun.filter(({ takenAt }) => takenAt === undefined).map(({ source }) => source.id);
    if (silent.length > 0) await live.update(nothingOf(silent));
    for (const following of old) void retire(following);
  }

  /** Calls that began with it finish first; it is not waited for. */
  async function retire(following: Following): Promise<void> {
    retiring.add(following);
    await soonest(Promise.race([calls.settled(), aborted(following.stop.signal)]), DRAIN_MS);
    following.stop.abort();
    await following.ended;
    retiring.delete(following);
  }

  /** By its id, or by the label in it where that is enough. */
  function find(name: string): Following {
    const ids = [...followed.keys()];
    const labels = Map.groupBy(ids, (id) => id.slice(id.indexOf(":") + 1));
    const [id, ...more] = followed.has(name) ? [name] : (labels.get(name) ?? []);
    if (id !== undefined && more.length === 0) return followed.get(id)!;
    const near = nearest(name, [...ids, ...labels.keys()]).flatMap((found) => labels.get(found) ?? found);
    throw problem("NOT_FOUND", { name: `source ${cutText(name, 128)}` }, { nearest: [...new Set(near)] });
  }

  /** What fails keeps what it had and says so in its status; only the caller's signal ends it all. */
  async function refreshAll(which: (following: Following) => boolean, signal: AbortSignal): Promise<void> {
    const chosen = [...followed.values()].filter(which);
    await Promise.allSettled(chosen.map((following) => following.refresh(signal)));
    signal.throwIfAborted();
  }

  const restart = singleFlight((signal) =>
    refreshAll((following) => !following.running || !statusOf(following).isFresh, signal),
  );
  const rebuild = singleFlight(async (signal) => {
    for (const following of followed.values()) following.anew = true;
    await refreshAll(({ source, running }) => source.refresh !== undefined || !running, signal);
    await live.reindex();
  });

  return {
    ready,
    replace: (next, changes) => {
      const done = turn.then(() => replace(next, changes));
      turn = done.catch(() => {});
      return done;
    },
    refresh: async (id, signal) => {
      const following = find(id);
      await cancellable(`Refreshing ${following.source.id}`, following.refresh(signal), signal);
    },
    restart: (signal) => cancellable("The restart", restart(signal), signal) as never,
    rebuild: (signal) => cancellable("The rebuild", rebuild(signal), signal) as never,
    status: (id) => statusOf(find(id)),
    list: () => sources.flatMap(({ id }) => followed.get(id) ?? []).map(statusOf),
    close: async () => {
      closed = true;
      const all = [...followed.values(), ...retiring];
      for (const { stop } of all) stop.abort();
      // A source may have processes to end.
      await soonest(Promise.all(all.map(({ ended }) => ended)), LAST_WORD_MS);
    },
  };

  function failed(following: Following, error: unknown): void {
    if (closed) return;
    following.error = error;
    const { id } = following.source;
    const detail = reasonOf(error);
    publish({ type: "notice", notice: "source-refused", detail: `${id}: ${detail}` });
    publish({ type: "source", source: id, state: "failed", detail });
  }
}

function statusOf({ source, entries, takenAt, error }: Following): SourceStatus {
  const times = takenAt === undefined ? {} : { oldest: takenAt, newest: takenAt };
  const own = source.freshness?.() ?? { count: entries, ...times, isFresh: takenAt !== undefined };
  return {
    id: source.id,
    ...own,
    ...(error !== undefined && { isFresh: false, lastError: reasonOf(error) }),
  };
}

/** Content is kept by the id of its source: a second one of the same id would take the place of the first. */
function checkIds(sources: readonly Source[]): void {
  const ids = [CODE, ...sources.map(({ id }) => id)];
  const doubled = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
  if (doubled.length === 0) return;
  const errors = doubled.map((id) => `source ${id}: given more than once`);
  const list = errors.map((error) => `- ${error}`).join("\n");
  throw problem("CATALOG_INVALID", { count: errors.length, list }, { errors });
}

function isSame(known: Source | undefined, other: Source): boolean {
  if (known === other) return true;
  return known?.digest !== undefined && known.digest === other.digest;
}

function nothingOf(ids: readonly string[]): Changes {
  return Object.fromEntries(ids.map((id) => [id, null]));
}

async function cancellable(
  name: string,
  work: Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (signal?.aborted && !isProblem(error)) throw problem("CANCELLED", { name });
    throw error;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function soonest(promise: Promise<unknown>, ms: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, over]);
  clearTimeout(timer);
}
