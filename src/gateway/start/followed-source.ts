import { problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { singleFlight } from "../../base/util/single-flight.ts";
import {
  countDrafts,
  type Freshness,
  type Source,
  type SourceContent,
  type SourceState,
} from "../../core/nouns/source.ts";
import type { Publish } from "../../core/telemetry/events.ts";

/** Id and state of a source, and the age of its content. */
export interface SourceStatus extends Freshness {
  readonly id: string;
  readonly state: SourceState;
}

/** The part of the catalog that one source uses. */
interface Outlet {
  /** Whether no later run has replaced this one. */
  isInUse(run: FollowedSource): boolean;
  put(content: SourceContent): Promise<void>;
  /** Starts the next run of the source. */
  again(): FollowedSource;
  readonly publish: Publish;
}

/** One run of a source, from first content to end. */
export class FollowedSource {
  readonly source: Source;
  /** Reads the source again. Rejects on failure. */
  readonly refresh: (signal?: AbortSignal) => Promise<void>;
  /** Whether the next read also fetches documents that appear unchanged. */
  force = false;
  readonly ended: Promise<void>;
  readonly #outlet: Outlet;
  readonly #stop = new AbortController();
  readonly #offered = Promise.withResolvers<void>();
  readonly #first = Promise.withResolvers<void>();
  #isRunning = true;
  #entries = 0;
  #takenAt: number | undefined;
  #error: unknown;

  constructor(source: Source, outlet: Outlet) {
    this.source = source;
    this.#outlet = outlet;
    this.refresh = singleFlight((signal) =>
      this.#readAgain(signal).catch((error: unknown) => {
        const detail = reasonOf(error);
        if (!signal.aborted) outlet.publish({ type: "source", source: source.id, state: "failed", detail });
        throw error;
      }),
    );
    this.ended = Promise.resolve().then(() => this.#run());
  }

  /** Resolves when the source has delivered or failed. */
  get offered(): Promise<void> {
    return this.#offered.promise;
  }

  /** Resolves when its first content is in the catalog, or the source has none. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Whether it has not delivered yet. */
  get isSilent(): boolean {
    return this.#takenAt === undefined;
  }

  get hasFailed(): boolean {
    return this.#error !== undefined;
  }

  get isStale(): boolean {
    if (this.#isRunning && !this.source.refresh) return this.hasFailed;
    return !this.status.isFresh;
  }

  get status(): SourceStatus {
    const takenAt = this.#takenAt;
    const times = takenAt === undefined ? {} : { oldest: takenAt, newest: takenAt };
    const freshness = this.source.freshness?.() ?? {
      count: this.#entries,
      ...times,
      isFresh: takenAt !== undefined,
    };
    return {
      id: this.source.id,
      state: takenAt === undefined ? "unknown" : "listed",
      ...freshness,
      ...(this.hasFailed && { state: "failed", isFresh: false, lastError: reasonOf(this.#error) }),
    };
  }

  /** Aborts when the run has to end. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    try {
      for await (const content of this.source.contents(signal, (error) => this.#noteFailure(error))) {
        this.#offered.resolve();
        if (this.#outlet.isInUse(this)) await this.#take(content);
        if (!content.isStarting) this.#first.resolve();
      }
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
    this.#isRunning = false;
    this.#settle();
  }

  async #take(content: SourceContent): Promise<void> {
    const { id } = this.source;
    for (const detail of content.warnings ?? [])
      this.#outlet.publish({ type: "notice", notice: "content-failed", detail: `${id}: ${detail}` });
    try {
      await this.#outlet.put(content);
      if (content.isStarting) return;
      this.#entries = countDrafts(content);
      this.#takenAt = Date.now();
      this.#error = undefined;
      // Entries of a failed server are shown with the reason; the failure has its own event.
      if (this.status.state !== "failed")
        this.#outlet.publish({ type: "source", source: id, state: "loaded", entries: this.#entries });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A source with its own freshness reports the reason of a failed read itself. */
  #noteFailure(error: unknown): void {
    if (this.source.freshness) this.#publishFailure(error);
    else this.#fail(error);
    this.#settle();
  }

  #fail(error: unknown): void {
    this.#error = error;
    this.#publishFailure(error);
  }

  #publishFailure(error: unknown): void {
    if (this.signal.aborted) return;
    const { id } = this.source;
    const detail = reasonOf(error);
    this.#outlet.publish({ type: "notice", notice: "source-refused", detail: `${id}: ${detail}` });
    this.#outlet.publish({ type: "source", source: id, state: "failed", detail });
  }

  #settle(): void {
    this.#offered.resolve();
    this.#first.resolve();
  }

  async #readAgain(signal: AbortSignal): Promise<void> {
    const { source, force } = this;
    if (this.#isRunning && !source.refresh) {
      const reason = `${source.id} decides by itself when it is read`;
      throw this.#error ?? problem("INVALID_INPUT", { operation: "refreshSource", reason });
    }
    this.#outlet.publish({ type: "source", source: source.id, state: "loading" });
    this.force = false;
    if (this.#isRunning) {
      await source.refresh?.(signal, force);
      if (this.hasFailed) throw this.#error;
    } else {
      const next = this.#outlet.again();
      await next.first;
      if (next.hasFailed) throw next.#error;
    }
  }
}
