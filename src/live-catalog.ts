import { LRUCache } from "lru-cache";
import type { Pins } from "./access/pins.ts";
import { createViews, type View } from "./access/view.ts";
import { buildCatalog, type Catalog } from "./catalog/catalog.ts";
import { toSearchDocument } from "./operations/to-search-document.ts";
import type { Principal } from "./schema/principal.ts";
import { problem } from "./schema/problem.ts";
import type { Source, SourceContent } from "./schema/source.ts";
import type { SearchDocument, SearchIndex } from "./search/search-index.ts";
import { publish } from "./telemetry/events.ts";
import { contentHash } from "./util/content-hash.ts";
import { reasonOf } from "./util/reason-of.ts";

/** One catalog with what is derived from it. Replaced as a whole, never changed: calls in flight keep theirs. */
export interface Generation {
  readonly catalog: Catalog;
  viewFor(principal: Principal): View;
  /** Keeps what is worked out from this catalog for as long as it stands. */
  remember<T>(key: string, make: () => T): T;
}

/** The catalog that is in use now, kept up with its sources. */
export interface LiveCatalog {
  readonly current: Generation;
  /** Resolves when every source has yielded for the first time, or has taken too long, and all can be found. */
  ready(): Promise<void>;
  /** Puts other content in the place of that of these sources. A wrong one is refused and changes nothing. */
  update(changes: Readonly<Record<string, SourceContent>>): Promise<void>;
  /** Calls the listener after every swap to a catalog of another version; the answer stops it. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

interface Waiting {
  readonly changes: Readonly<Record<string, SourceContent>>;
  resolve(): void;
  reject(error: unknown): void;
}

const REMEMBERED = 1_000;
const FIRST_YIELD_MS = 10_000;
const LAST_WORD_MS = 10_000;
/** How long the first catalog waits for sources that are quick, so that it is not built once for each. */
const GATHER_MS = 100;

/** Builds the catalog of the given content at once, or throws; sources are started by the first `ready`. */
export function createLiveCatalog(
  first: { readonly id: string; readonly content: SourceContent },
  sources: readonly Source[],
  index: SearchIndex,
  pins: Pins,
): LiveCatalog {
  checkIds([first.id, ...sources.map(({ id }) => id)]);
  const createGeneration = (all: ReadonlyMap<string, SourceContent>) => toGeneration(all, pins);
  let contents: ReadonlyMap<string, SourceContent> = new Map([[first.id, first.content]]);
  const stopping = new AbortController();
  let current = createGeneration(contents);
  let indexed: ReadonlyMap<string, string> = new Map();
  let started: Promise<void> | undefined;
  let updates: Promise<void> = Promise.resolve();
  let waiting: Waiting[] = [];
  const followed: Promise<void>[] = [];
  const listeners = new Set<() => void>();

  /** New documents are searchable before the swap and old ones until after it: neither can be missed. */
  async function swap(next: Generation): Promise<void> {
    const documents = toDocuments(next.catalog);
    const hashes = hashDocuments(documents);
    await index.put(documents.filter(({ id }) => indexed.get(id) !== hashes.get(id)));
    const changes = next.catalog.version !== current.catalog.version;
    current = next;
    await index.drop([...indexed.keys()].filter((id) => !hashes.has(id)));
    indexed = hashes;
    if (changes) for (const listener of listeners) listener();
  }

  function update(changes: Readonly<Record<string, SourceContent>>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push({ changes, resolve, reject });
    updates = updates.then(applyWaiting);
    return promise;
  }

  /** What arrives while a catalog is built goes into the next one together; a wrong one is refused alone. */
  async function applyWaiting(): Promise<void> {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    try {
      await apply(Object.assign({}, ...batch.map(({ changes }) => changes)));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const { changes, resolve, reject } of batch) await apply(changes).then(resolve, reject);
    }
  }

  async function apply(changes: Readonly<Record<string, SourceContent>>): Promise<void> {
    const proposed = new Map([...contents, ...Object.entries(changes)]);
    await swap(createGeneration(proposed));
    contents = proposed;
  }

  async function follow(source: Source, onFirst: () => void, onOffer: () => void): Promise<void> {
    try {
      for await (const content of source.contents(stopping.signal)) {
        onOffer();
        for (const detail of content.warnings ?? []) {
          publish({ type: "notice", notice: "content-failed", detail: `${source.id}: ${detail}` });
        }
        await update({ [source.id]: content }).catch((error: unknown) => refused(source, error));
        onFirst();
      }
    } catch (error) {
      refused(source, error);
    }
    onOffer();
    onFirst();
  }

  /** What a snapshot holds need not be indexed again; what has changed since is found by its hash. */
  async function fill(): Promise<void> {
    const restored = await index.restore?.();
    if (restored?.note === undefined) {
      if (restored?.reason) publish({ type: "notice", notice: "snapshot-rebuilt", detail: restored.reason });
      return swap(current);
    }
    indexed = new Map(JSON.parse(restored.note));
  }

  async function keep(): Promise<void> {
    await index.keep?.(JSON.stringify([...indexed])).catch((error: unknown) => {
      publish({ type: "notice", notice: "snapshot-failed", detail: reasonOf(error) });
    });
  }

  async function start(): Promise<void> {
    await fill();
    const offers = sources.map(() => Promise.withResolvers<void>());
    const offered = Promise.all(offers.map(({ promise }) => promise));
    updates = updates.then(() => soonest(offered, GATHER_MS));
    const firstYields = sources.map(
      (source, at) =>
        new Promise<void>((resolve) => followed.push(follow(source, resolve, offers[at]!.resolve))),
    );
    await Promise.race([Promise.all(firstYields), delay(FIRST_YIELD_MS, stopping.signal)]);
    // Without sources nothing has yet been compared with what a snapshot held.
    if (sources.length === 0) await update({});
  }

  // What was approved or taken back counts from the next catalog on.
  const stopWatching = pins.onChange(() => update({}).catch(() => {}));

  return {
    get current() {
      return current;
    },
    ready: () => {
      started ??= start();
      return started;
    },
    update,
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => {
      listeners.clear();
      stopping.abort();
      stopWatching();
      // A source may have processes to end.
      await Promise.race([Promise.all(followed), delay(LAST_WORD_MS)]);
      await updates;
      if (started) await keep();
      await index.close();
    },
  };
}

/** Content is kept by the id of its source: a second one of the same id would take the place of the first. */
function checkIds(ids: readonly string[]): void {
  const doubled = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
  if (doubled.length === 0) return;
  const errors = doubled.map((id) => `source ${id}: given more than once`);
  const list = errors.map((error) => `- ${error}`).join("\n");
  throw problem("CATALOG_INVALID", { count: errors.length, list }, { errors });
}

function toGeneration(contents: ReadonlyMap<string, SourceContent>, pins: Pins): Generation {
  const all = [...contents.values()];
  const catalog = buildCatalog({
    domains: all.flatMap((content) => content.domains),
    drafts: pins.judge(all.flatMap((content) => content.drafts)),
    errors: all.flatMap((content) => content.errors ?? []),
  });
  for (const { route, status } of catalog.entries) {
    if (status?.state !== "invalid") continue;
    publish({ type: "notice", notice: "entry-invalid", detail: `${route}: ${status.reason}` });
  }
  const remembered = new LRUCache<string, { readonly value: unknown }>({ max: REMEMBERED });
  return {
    catalog,
    viewFor: createViews(catalog),
    remember: <T>(key: string, make: () => T): T => {
      const known = remembered.get(key) ?? { value: make() };
      remembered.set(key, known);
      return known.value as T;
    },
  };
}

function toDocuments(catalog: Catalog): SearchDocument[] {
  return catalog.entries.map((entry) => toSearchDocument(entry, catalog.domains.get(entry.domain)));
}

/** By id, in the order of the catalog. */
function hashDocuments(documents: readonly SearchDocument[]): Map<string, string> {
  return new Map(documents.map((document) => [document.id, contentHash(document).slice(0, 16)]));
}

function refused(source: Source, error: unknown): void {
  publish({ type: "notice", notice: "source-refused", detail: `${source.id}: ${reasonOf(error)}` });
}

async function soonest(promise: Promise<unknown>, ms: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, over]);
  clearTimeout(timer);
}

function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    timer.unref();
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });
}
