import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import type { Pins } from "../../core/access/pins.ts";
import { createViews } from "../../core/access/view.ts";
import { buildCatalog, type Catalog } from "../../core/catalog/catalog.ts";
import { unusedRules } from "../../core/catalog/catalog-errors.ts";
import { DOES, type Draft, knownStatus } from "../../core/nouns/entry.ts";
import type { SourceContent } from "../../core/nouns/source.ts";
import type { Publish } from "../../core/telemetry/events.ts";
import type { SearchIndex } from "../../search/port/search-index.ts";
import { type Generation, type StartState, WAITS, withTimeout } from "./availability.ts";
import { CatalogIndex } from "./catalog-index.ts";

/** New content by source id; null removes a source. */
export type Changes = Readonly<Record<string, SourceContent | null>>;

interface WaitingUpdate {
  readonly changes: Changes;
  resolve(): void;
  reject(error: unknown): void;
}

/** The current catalog and its index. */
export class CatalogStore {
  readonly #pins: Pins;
  readonly #publish: Publish;
  readonly #index: CatalogIndex;
  #contents: ReadonlyMap<string, SourceContent>;
  #current: Generation;
  #state: StartState = "loading";
  readonly #usable = Promise.withResolvers<void>();
  /** Resolves at the first search. */
  readonly #wanted = Promise.withResolvers<void>();
  /** The index work that searches wait for. */
  #filling: Promise<void> = Promise.resolve();
  /** Whether the index is updated before the catalog. During the start the catalog comes first and searches wait. */
  #isInStep = false;
  #lastBuildMs = 0;
  /** Updates run one after the other. */
  #turn: Promise<void> = Promise.resolve();
  #waiting: WaitingUpdate[] = [];
  readonly #listeners = new Set<() => void>();
  /** Why each domain waits for a person, as last published. */
  #told: ReadonlyMap<string, string> = new Map();
  readonly #stopWatching: () => void;

  /** @throws CATALOG_INVALID if the first content is wrong. */
  constructor(
    first: { readonly id: string; readonly content: SourceContent },
    index: SearchIndex,
    pins: Pins,
    publish: Publish,
  ) {
    this.#pins = pins;
    this.#publish = publish;
    this.#index = new CatalogIndex(index, publish);
    this.#contents = new Map([[first.id, first.content]]);
    this.#current = toGeneration(this.#contents, pins, publish);
    // Approvals take effect with the next catalog.
    this.#stopWatching = pins.onChange(() =>
      // Remove revoked entries even if the index cannot be written.
      this.update({}).catch(() => this.#show(toGeneration(this.#contents, pins, publish))),
    );
  }

  get current(): Generation {
    return this.#current;
  }

  get state(): StartState {
    return this.#state;
  }

  /** Resolves when the start reaches `usable`, or the gateway closes. */
  get usable(): Promise<void> {
    return this.#usable.promise;
  }

  /** Resolves when search finds everything in the catalog. */
  searchable(): Promise<void> {
    this.#wanted.resolve();
    return this.#filling;
  }

  /** Calls the listener when the catalog changes. Returns unsubscribe. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Takes the catalog from `loading` to `complete`; call once. Holds updates back until the quick sources have
   * delivered, so that they share one build.
   */
  async begin(gathered: Promise<void>, delivered: Promise<void>): Promise<void> {
    // The snapshot is large and listing tools does not need it: load it on the first search, or after the first list.
    const listed = this.usable.then(() => withTimeout(this.#wanted.promise, WAITS.listingMs));
    this.#fill(Promise.allSettled([this.#filling, listed]), () => this.#index.restore(this.#current.catalog));
    this.#turn = this.#turn.then(() => gathered);
    await gathered;
    await this.#turn;
    this.#reach("usable");
    publishGuessedLanes(this.#current.catalog, this.#publish);
    await delivered;
    this.#reach("complete");
    publishUnusedRules(this.#current.catalog, this.#publish);
    void this.#filling.catch(() => {}).then(() => this.#followIndex());
  }

  #reach(next: StartState): void {
    this.#state = next;
    this.#usable.resolve();
  }

  /** From now on, entries become visible after search finds them. Drops documents without an entry. */
  #followIndex(): void {
    this.#isInStep = true;
    this.#turn = this.#turn
      .then(async () => {
        const { catalog } = this.#current;
        if (this.#index.isBehind(catalog)) await this.#index.sync(catalog, { isStarting: false });
      })
      .catch(() => {});
  }

  #fill(after: Promise<unknown>, work: () => Promise<void>): void {
    this.#filling = after.then(work);
    // Searches report the failure.
    this.#filling.catch(() => {});
  }

  /** Replaces the content of these sources. Invalid content is rejected and changes nothing. */
  update(changes: Changes): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ changes, resolve, reject });
    this.#turn = this.#turn.then(() => this.#applyWaiting());
    return promise;
  }

  /** Builds one catalog for all waiting updates. If that fails, applies each alone. */
  async #applyWaiting(): Promise<void> {
    // During the start, combine sources that deliver one after the other: each build covers the whole catalog.
    const isLong = !this.#isInStep && this.#lastBuildMs >= WAITS.longBuildMs;
    if (isLong && this.#waiting.length > 0) await sleep(2 * this.#lastBuildMs);
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    try {
      await this.#apply(Object.assign({}, ...batch.map(({ changes }) => changes)));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const { changes, resolve, reject } of batch) await this.#apply(changes).then(resolve, reject);
    }
  }

  async #apply(changes: Changes): Promise<void> {
    const proposed = new Map(this.#contents);
    for (const [id, content] of Object.entries(changes)) {
      if (content) proposed.set(id, content);
      else proposed.delete(id);
    }
    const began = performance.now();
    const next = toGeneration(proposed, this.#pins, this.#publish);
    this.#lastBuildMs = performance.now() - began;
    await this.#swap(next);
    this.#contents = proposed;
  }

  /** Adds new documents before the swap and drops old ones after it, so that every search finds both. */
  async #swap(next: Generation): Promise<void> {
    const { catalog } = next;
    if (this.#isInStep) {
      await this.#index.sync(catalog, { isStarting: false, onFound: () => this.#show(next) });
      this.#filling = Promise.resolve();
    } else {
      this.#show(next);
      // Let callers that wait for the catalog run first.
      this.#fill(Promise.allSettled([this.#filling, setImmediate()]), () =>
        this.#index.sync(catalog, { isStarting: !this.#isInStep }),
      );
    }
  }

  #show(next: Generation): void {
    const changes = next.catalog.version !== this.#current.catalog.version;
    this.#current = next;
    if (changes) this.#told = publishWaitingDomains(next.catalog, this.#told, this.#publish);
    if (changes) for (const listener of this.#listeners) listener();
  }

  /** Indexes everything again, even after a failure. Searches keep working, unless the engine drops its store. */
  reindex(): Promise<void> {
    const done = Promise.allSettled([this.#turn, this.#filling]).then(() =>
      this.#index.reindex(this.#current.catalog),
    );
    this.#turn = done.catch(() => {});
    if (this.#index.isReset) this.#filling = done;
    void done.then(
      () => {
        this.#filling = Promise.resolve();
      },
      () => {},
    );
    return done;
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stopWatching();
    this.#usable.resolve();
    this.#wanted.resolve();
    await this.#turn;
    const [{ status }] = await Promise.allSettled([this.#filling]);
    await this.#index.close(status === "fulfilled");
  }
}

function toGeneration(
  contents: ReadonlyMap<string, SourceContent>,
  pins: Pins,
  publish: Publish,
): Generation {
  const all = [...contents.values()];
  const catalog = buildCatalog({
    domains: all.flatMap((content) => content.domains),
    drafts: pins.judge(withoutTaken(contents, publish), publish),
    errors: all.flatMap((content) => content.errors ?? []),
  });
  for (const entry of catalog.entries) {
    // Lazy entries are checked when they are read.
    if (entry.lazy || entry.status?.state !== "invalid") continue;
    publish({ type: "notice", notice: "entry-invalid", detail: `${entry.route}: ${entry.status.reason}` });
  }
  return { catalog, viewFor: createViews(catalog) };
}

const MOST_NAMED = 10;

/** Publishes the tools in code whose lane was guessed. */
function publishGuessedLanes({ entries }: Catalog, publish: Publish): void {
  const guessed = entries.filter((entry) => !entry.lazy && entry.kind === "tool" && entry.isLaneGuessed);
  if (guessed.length === 0) return;
  const shown = guessed.slice(0, MOST_NAMED).map(({ op, lane }) => `${op} ${DOES[lane]}`);
  const more = guessed.length > MOST_NAMED ? ` and ${guessed.length - MOST_NAMED} more` : "";
  const detail = `${shown.join(", ")}${more}, as far as their names tell; declare lane: "read", "write" or "destructive" (keyhole catalog lint lists them)`;
  publish({ type: "notice", notice: "lane-guessed", detail });
}

/** Publishes rules whose category no entry has. */
function publishUnusedRules({ domains, entries }: Catalog, publish: Publish): void {
  const spare = [...domains.values()].flatMap((domain) => unusedRules(domain, entries));
  for (const { domain, category } of spare) {
    const detail = `domain ${domain}: rules for the category ${category}, which no entry has, are not used`;
    publish({ type: "notice", notice: "content-failed", detail });
  }
}

/** Publishes once which domains wait for a person and what to type. */
function publishWaitingDomains(
  { entries }: Catalog,
  told: ReadonlyMap<string, string>,
  publish: Publish,
): ReadonlyMap<string, string> {
  const waiting = new Map<string, string>();
  for (const entry of entries) {
    if (entry.visibility === "hidden") continue;
    const status = knownStatus(entry);
    if (status?.state === "quarantined") waiting.set(entry.domain, status.reason);
  }
  for (const [domain, reason] of waiting)
    if (told.get(domain) !== reason)
      publish({ type: "notice", notice: "approval-needed", detail: `${domain}: ${reason}` });
  return waiting;
}

/** If two sources have a document at the same route, the first source by id wins. */
function withoutTaken(contents: ReadonlyMap<string, SourceContent>, publish: Publish): Draft[] {
  const owners = new Map<string, string>();
  const [first, ...others] = contents;
  const ordered = [first!, ...others.sort(([left], [right]) => (left < right ? -1 : 1))];
  return ordered.flatMap(([id, { drafts, lazyDrafts = [] }]) => [
    ...lazyDrafts,
    ...drafts.filter(({ kind, route, origin }) => {
      if (route === undefined) return true;
      const owner = owners.get(route) ?? id;
      owners.set(route, owner);
      if (owner === id || kind !== "resource" || origin) return true;
      publish({
        type: "notice",
        notice: "content-failed",
        detail: `${id}, ${route}: ${owner} has this route`,
      });
      return false;
    }),
  ]);
}
