import type { Clock } from "../base/util/clock.ts";
import { reasonOf } from "../base/util/reason-of.ts";
import { singleFlight } from "../base/util/single-flight.ts";
import { countDrafts, type Freshness, type SourceContent } from "../core/nouns/source.ts";
import { backoffMs } from "./backoff.ts";

/** Everything that an origin held at one time. */
export interface Reading {
  /** The same object as before means: nothing changed, do not show it again. */
  readonly content: SourceContent;
  /** Number of documents. Default: the number of drafts. */
  readonly count?: number;
  /** Times of the oldest and newest check of a document, in milliseconds since 1970. Default: now. */
  readonly oldest?: number;
  readonly newest?: number;
}

export interface ReadRequest {
  readonly signal: AbortSignal;
  /** Also fetch documents that appear unchanged. */
  readonly force: boolean;
}

/** Calls of a watched origin. */
export interface Watcher {
  /** The origin may have changed: read it again. */
  changed(): void;
  /** The origin sent its content without a read. */
  found(reading: Reading): void;
}

/** How to read an origin, and perhaps watch it. */
export interface FollowOptions {
  readonly clock: Clock;
  /** From 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
  /** Reads everything, or throws: the earlier reading then stays. */
  read(request: ReadRequest): Promise<Reading>;
  /** Called when following begins. Returns a function that ends it and closes connections. */
  watch?(watcher: Watcher): () => void | Promise<void>;
  /** The reading of an earlier run. Shown at once, and read again if it is stale. */
  restore?(): Promise<Reading | undefined>;
  /** How long a reading is fresh before it is read again. 0: always stale, read only on request. Default: forever. */
  readonly ttlMs?: number | undefined;
  /** Whether content is local and cheap to read: it is never fresh, and a restored reading is only a fallback. */
  readonly isLocal?: boolean | undefined;
  /** Milliseconds until an unavailable origin may be read again; undefined while it is available. */
  retryAfterMs?(): number | undefined;
}

interface Following {
  readonly signal: AbortSignal;
  readonly outlet: ReturnType<typeof createOutlet>;
  onFailed(error: unknown): void;
  shown?: SourceContent;
  cancelTimer?: () => void;
  isQueued?: boolean;
}

const SHORTEST_WAIT_MS = 1_000;
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 4 * 60 * 60_000;

export function followSource(
  options: FollowOptions,
): Pick<FollowedOrigin, "contents" | "refresh" | "freshness"> {
  const origin = new FollowedOrigin(options);
  return {
    contents: (signal, onFailed) => origin.contents(signal, onFailed),
    refresh: (signal, force) => origin.refresh(signal, force),
    freshness: () => origin.freshness(),
  };
}

/**
 * Follows an origin: reads it at the start, when it changes, when its reading becomes stale, and on request. One read
 * runs at a time. A failed read leaves the earlier reading in use and is retried later.
 */
class FollowedOrigin {
  private readonly options: FollowOptions;
  private readonly isLocal: boolean;
  private readonly random: () => number;
  private current: Required<Reading> | undefined;
  private following: Following | undefined;
  private lastError: string | undefined;
  private failures = 0;
  private wantsAll = false;
  private turn: Promise<unknown> = Promise.resolve();
  private readonly readOnRequest: (signal?: AbortSignal | undefined) => Promise<void>;

  constructor(options: FollowOptions) {
    this.options = options;
    this.isLocal = options.isLocal ?? false;
    this.random = options.random ?? Math.random;
    this.readOnRequest = singleFlight((signal) => this.inTurn(() => this.readOnce(signal)));
  }

  async *contents(
    signal: AbortSignal,
    onFailed?: (error: unknown) => void,
  ): AsyncGenerator<SourceContent, void> {
    const failed = new AbortController();
    const following: Following = {
      signal,
      outlet: createOutlet(),
      onFailed: onFailed ?? ((error) => failed.abort(error)),
    };
    this.following = following;
    const stop = this.options.watch?.({
      changed: () => void this.tryToRead(following),
      found: (reading) => {
        this.succeed();
        void this.show(reading, following);
        this.readLater(following);
      },
    });
    void this.begin(following);
    try {
      yield* following.outlet.values(AbortSignal.any([signal, failed.signal]));
      if (!signal.aborted) failed.signal.throwIfAborted();
    } finally {
      following.cancelTimer?.();
      if (this.following === following) this.following = undefined;
      await stop?.();
    }
  }

  // Does not join a scheduled read, which may have begun before the caller's change.
  async refresh(signal?: AbortSignal, force = false): Promise<void> {
    this.wantsAll ||= force;
    await this.readOnRequest(signal);
    if (this.wantsAll) await this.readOnRequest(signal);
  }

  freshness(): Freshness {
    const { current, lastError } = this;
    const { clock, ttlMs } = this.options;
    const ttl = this.isLocal ? 0 : ttlMs;
    return {
      ...(lastError !== undefined && { state: "failed" }),
      count: current?.count ?? 0,
      ...(current && { oldest: current.oldest, newest: current.newest }),
      ...(ttl !== undefined && { ttlMs: ttl }),
      // Absolute difference: a time in the future means that the clock was adjusted.
      isFresh: current !== undefined && (ttl === undefined || Math.abs(clock.now() - current.oldest) < ttl),
      ...(lastError !== undefined && { lastError }),
    };
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.turn.then(work);
    this.turn = done.catch(() => {});
    return done;
  }

  private async readOnce(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const force = this.wantsAll;
    this.wantsAll = false;
    try {
      const reading = await this.options.read({ signal, force });
      this.succeed();
      await this.show(reading, this.following);
    } catch (error) {
      this.wantsAll ||= force;
      if (!signal.aborted) {
        this.lastError = reasonOf(error);
        this.failures += 1;
      }
      throw error;
    } finally {
      if (this.following) this.readLater(this.following);
    }
  }

  private succeed(): void {
    this.lastError = undefined;
    this.failures = 0;
  }

  /** Resolves when the content is in use. */
  private async show(reading: Reading, by: Following | undefined): Promise<void> {
    const {
      content,
      count = countDrafts(content),
      newest = this.options.clock.now(),
      oldest = newest,
    } = reading;
    this.current = { content, count, oldest, newest };
    if (!by || by.shown === content) return;
    by.shown = content;
    await by.outlet.put(content);
  }

  private async begin(run: Following): Promise<void> {
    const restored = await this.options.restore?.().catch(() => undefined);
    if (restored && !this.isLocal) {
      const taken = this.show(restored, run);
      // Starting an origin takes time that the first answers need.
      if (restored.content.isStarting) await taken;
      else if (this.freshness().isFresh) return this.readLater(run);
    }
    await this.tryToRead(run, restored);
  }

  private async tryToRead(follower: Following, fallback?: Reading): Promise<void> {
    // A queued read will see this change too; a running read may not.
    if (follower.isQueued) return;
    follower.isQueued = true;
    try {
      await this.inTurn(() => {
        follower.isQueued = false;
        return this.readOnce(follower.signal);
      });
    } catch (error) {
      if (follower.signal.aborted) return;
      if (fallback && !follower.shown) await this.show(fallback, follower);
      follower.onFailed(error);
    }
  }

  private readLater(own: Following): void {
    own.cancelTimer?.();
    delete own.cancelTimer;
    const wait = this.nextWait();
    if (wait === undefined || own.signal.aborted) return;
    own.cancelTimer = this.options.clock.after(wait, () => void this.tryToRead(own));
  }

  private nextWait(): number | undefined {
    const { clock, retryAfterMs, ttlMs } = this.options;
    const retryMs = retryAfterMs?.();
    if (retryMs !== undefined) return retryMs;
    if (ttlMs === 0) return undefined;
    if (this.failures > 0) {
      const longestMs = Math.min(ttlMs ?? LONGEST_RETRY_MS, LONGEST_RETRY_MS);
      const wait = backoffMs(this.failures, { firstMs: FIRST_RETRY_MS, longestMs, random: this.random });
      return Math.max(wait, SHORTEST_WAIT_MS);
    }
    if (ttlMs === undefined) return undefined;
    // Random, so that sources that were read together are not read again together.
    const part = 0.9 + this.random() / 10;
    const remaining = this.current ? this.current.newest + ttlMs * part - clock.now() : ttlMs;
    return Math.max(Math.min(remaining, ttlMs), SHORTEST_WAIT_MS);
  }
}

/** Passes contents to one reader. */
export function createOutlet() {
  let next: { readonly value: SourceContent; readonly done: PromiseWithResolvers<void> } | undefined;
  let bell = Promise.withResolvers<void>();
  let closed = false;

  return {
    /** Replaces a value that was not read yet. Resolves when the reader has finished with the new value. */
    put: (value: SourceContent): Promise<void> => {
      if (closed) return Promise.resolve();
      const done = next?.done ?? Promise.withResolvers<void>();
      next = { value, done };
      bell.resolve();
      return done.promise;
    },
    /** Reads values until the signal aborts. */
    values: async function* (signal: AbortSignal): AsyncGenerator<SourceContent, void> {
      const ring = () => bell.resolve();
      signal.addEventListener("abort", ring, { once: true });
      try {
        while (!signal.aborted) {
          if (!next) {
            await bell.promise;
            bell = Promise.withResolvers();
            continue;
          }
          const { value, done } = next;
          next = undefined;
          try {
            yield value;
          } finally {
            done.resolve();
          }
        }
      } finally {
        closed = true;
        next?.done.resolve();
        signal.removeEventListener("abort", ring);
      }
    },
  };
}
