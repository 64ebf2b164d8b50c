import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { cutText } from "../../base/util/cut-text.ts";
import { lazy } from "../../base/util/lazy.ts";
import { nearest } from "../../base/util/nearest.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { singleFlight } from "../../base/util/single-flight.ts";
import { untilAborted } from "../../base/util/until-aborted.ts";
import { catalogInvalid } from "../../core/catalog/catalog-errors.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { Source } from "../../core/nouns/source.ts";
import type { FailedRead } from "../../core/operations/operation.ts";
import type { Publish } from "../../core/telemetry/events.ts";
import { type InFlight, WAITS, withTimeout } from "./availability.ts";
import type { CatalogStore, Changes } from "./catalog-store.ts";
import { FollowedSource, type SourceStatus } from "./followed-source.ts";

/** Id of the source for domains in code. */
export const CODE = "code";

/** A source that could not be read. Its old content stays in use. */
export interface FailedSource {
  readonly source: string;
  readonly problem: Problem;
}

/** The result of reading several sources. */
export interface LifecycleResult {
  /** Whether every source was fresh before the call. */
  readonly wasFresh: boolean;
  readonly failed: readonly FailedSource[];
}

/** The current sources. Passes their content to the catalog. */
export class SourceManager {
  readonly #catalog: CatalogStore;
  readonly #calls: InFlight;
  readonly #publish: Publish;
  #sources: readonly Source[];
  readonly #followed = new Map<string, FollowedSource>();
  readonly #retiring = new Set<FollowedSource>();
  /** Replacements run one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** @throws CATALOG_INVALID if two sources have the same id. */
  constructor(catalog: CatalogStore, sources: readonly Source[], calls: InFlight, publish: Publish) {
    checkIds(sources);
    this.#catalog = catalog;
    this.#sources = sources;
    this.#calls = calls;
    this.#publish = publish;
  }

  /** Starts the sources, once. Resolves when each has delivered, failed or timed out. */
  readonly begin = lazy((): Promise<void> => {
    const begun = this.#sources.map((source) => this.#follow(source));
    const delivered =
      begun.length > 0
        ? withTimeout(Promise.all(begun.map(({ first }) => first)), WAITS.firstContentMs)
        : // Without sources, nothing else compares the catalog with the restored snapshot.
          this.#catalog.update({});
    return this.#catalog.begin(quickSourcesOffered(begun), delivered);
  });

  #follow(source: Source): FollowedSource {
    const { id } = source;
    const following = new FollowedSource(source, {
      isInUse: (run) => this.#followed.get(id) === run,
      put: (content) => this.#catalog.update({ [id]: content }),
      again: () => this.#follow(source),
      publish: this.#publish,
    });
    this.#followed.set(id, following);
    if (this.#isClosed) following.stop();
    return following;
  }

  /** Replaces the sources, together with other changes. Sources that stay the same keep running. */
  replace(next: readonly Source[], changes?: Changes): Promise<void> {
    const done = this.#turn.then(() => this.#replace(next, changes));
    this.#turn = done.catch(() => {});
    return done;
  }

  async #replace(next: readonly Source[], changes: Changes = {}): Promise<void> {
    checkIds(next);
    await this.begin();
    const followed = this.#followed;
    const ids = new Set(next.map(({ id }) => id));
    const gone = [...followed.keys()].filter((id) => !ids.has(id));
    const others = next.filter((source) => !isSame(followed.get(source.id)?.source, source));
    await this.#catalog.update({ ...changes, ...nothingOf(gone) });
    this.#sources = next;
    const old = [...gone, ...others.map(({ id }) => id)].flatMap((id) => followed.get(id) ?? []);
    for (const id of gone) {
      followed.delete(id);
      this.#publish({ type: "source", source: id, state: "removed" });
    }
    const begun = others.map((source) => this.#follow(source));
    await withTimeout(Promise.all(begun.map(({ first }) => first)), WAITS.firstContentMs);
    // Remove the old content of a changed source, even if its new content is late.
    const silent = begun.filter(({ isSilent }) => isSilent).map(({ source }) => source.id);
    if (silent.length > 0) await this.#catalog.update(nothingOf(silent));
    for (const following of old) void this.#retire(following);
  }

  /** Ends a source after the calls that may still use it. */
  async #retire(following: FollowedSource): Promise<void> {
    this.#retiring.add(following);
    const { signal } = following;
    if (!signal.aborted)
      await withTimeout(untilAborted(this.#calls.settled(), signal), WAITS.drainMs).catch(() => {});
    following.stop();
    await following.ended;
    this.#retiring.delete(following);
  }

  /** Finds a source by its id, or by a label that only one id has. */
  #find(name: string): FollowedSource {
    const followed = this.#followed;
    const ids = [...followed.keys()];
    const labels = Map.groupBy(ids, (id) => id.slice(id.indexOf(":") + 1));
    const [id, ...more] = followed.has(name) ? [name] : (labels.get(name) ?? []);
    if (id !== undefined && more.length === 0) return followed.get(id)!;
    const near = nearest(name, [...ids, ...labels.keys()]).flatMap(
      (idOrLabel) => labels.get(idOrLabel) ?? idOrLabel,
    );
    throw problem("NOT_FOUND", { name: `source ${cutText(name, 128)}` }, { nearest: [...new Set(near)] });
  }

  async refresh(id: string, signal?: AbortSignal): Promise<void> {
    const following = this.#find(id);
    await cancellable(`Refreshing ${following.source.id}`, following.refresh(signal), signal);
  }

  refreshStale(signal?: AbortSignal): Promise<LifecycleResult> {
    return cancellable("The restart", this.#restart(signal), signal);
  }

  rebuild(signal?: AbortSignal): Promise<LifecycleResult> {
    return cancellable("The rebuild", this.#rebuild(signal), signal);
  }

  /** Reads the sources that are not fresh. */
  readonly #restart = singleFlight((signal) => {
    const stale = [...this.#followed.values()].filter(({ isRunning, isStale }) => !isRunning || isStale);
    return this.#readAll(stale, signal, async (following) => {
      // A source that is still starting is being read already.
      if (following.isRunning && following.isSilent && following.source.refresh) {
        await untilAborted(following.offered, signal);
        await following.first;
        if (!following.isStale) return;
      }
      await following.refresh(signal);
    });
  });

  /** Reads all sources and indexes everything again. */
  readonly #rebuild = singleFlight(async (signal) => {
    const all = [...this.#followed.values()];
    for (const following of all) following.force = true;
    const readable = all.filter((one) => one.source.refresh || !one.isRunning || one.hasFailed);
    const result = await this.#readAll(readable, signal, (following) => following.refresh(signal));
    await this.#catalog.reindex();
    return result;
  });

  /** Collects failures. Throws only when the caller's signal aborts. */
  async #readAll(
    chosen: readonly FollowedSource[],
    signal: AbortSignal,
    read: (following: FollowedSource) => Promise<void>,
  ): Promise<LifecycleResult> {
    const wasFresh = [...this.#followed.values()].every(({ status }) => status.isFresh);
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

  /** Sources that failed and have no content, among those that the principal may know. */
  failed({ scopes: held }: Principal): FailedRead[] {
    return [...this.#followed.values()].flatMap(({ source: { id, scopes = [] }, status }) => {
      const { state, count, lastError = "" } = status;
      const isTold = state === "failed" && count === 0 && scopes.every((scope) => held.includes(scope));
      return isTold ? [{ name: id.slice(id.indexOf(":") + 1), reason: lastError }] : [];
    });
  }

  status(id: string): SourceStatus {
    return this.#find(id).status;
  }

  list(): SourceStatus[] {
    return this.#sources.flatMap(({ id }) => this.#followed.get(id)?.status ?? []);
  }

  /** A source that stayed the same in a replacement is the one that runs, not its equal from the new list. */
  inUse(): readonly Source[] {
    return this.#sources.map((source) => this.#followed.get(source.id)?.source ?? source);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#followed.values(), ...this.#retiring];
    for (const following of all) following.stop();
    await withTimeout(Promise.all(all.map(({ ended }) => ended)), WAITS.closeMs);
  }
}

/** Waits as long as sources deliver in quick succession. */
async function quickSourcesOffered(begun: readonly FollowedSource[]): Promise<void> {
  const end = performance.now() + WAITS.longestGatherMs;
  const waiting = new Set(begun);
  const offers = begun.map(async (following) => {
    await following.offered;
    waiting.delete(following);
  });
  const all = Promise.all(offers);
  const isWorthIt = (before: number) =>
    waiting.size !== before || waiting.values().some(({ source }) => source.isSoon);
  for (let before = -1; waiting.size > 0 && isWorthIt(before) && performance.now() < end; ) {
    before = waiting.size;
    await withTimeout(all, WAITS.gatherMs);
  }
}

function toProblem(id: string, error: unknown): Problem {
  if (isProblem(error)) return error;
  return problem("CALL_FAILED", { name: id, reason: reasonOf(error), advice: "Refresh the source later." });
}

/** The catalog stores content by source id: a second source with the same id would replace the first. */
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
