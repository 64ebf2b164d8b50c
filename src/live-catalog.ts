import { LRUCache } from "lru-cache";
import { createViews, type View } from "./access/view.ts";
import { buildCatalog, type Catalog } from "./catalog/catalog.ts";
import { toSearchDocument } from "./operations/to-search-document.ts";
import type { Principal } from "./schema/principal.ts";
import { isProblem } from "./schema/problem.ts";
import type { Source, SourceContent } from "./schema/source.ts";
import type { SearchDocument, SearchIndex } from "./search/search-index.ts";
import { publish } from "./telemetry/events.ts";
import { contentHash } from "./util/content-hash.ts";

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

const REMEMBERED = 1_000;
const FIRST_YIELD_MS = 10_000;

/** Builds the catalog of the given content at once, or throws; sources are started by the first `ready`. */
export function createLiveCatalog(
  first: { readonly id: string; readonly content: SourceContent },
  sources: readonly Source[],
  index: SearchIndex,
): LiveCatalog {
  let contents: ReadonlyMap<string, SourceContent> = new Map([[first.id, first.content]]);
  const stopping = new AbortController();
  let current = createGeneration(contents);
  let indexed: ReadonlyMap<string, string> = new Map();
  let started: Promise<void> | undefined;
  let updates: Promise<unknown> = Promise.resolve();
  const listeners = new Set<() => void>();

  /** New documents are searchable before the swap and old ones until after it: neither can be missed. */
  async function swap(next: Generation): Promise<void> {
    const documents = new Map(toDocuments(next.catalog).map((document) => [document.id, document]));
    const hashes = new Map([...documents].map(([id, document]) => [id, contentHash(document)]));
    const changed = [...documents.values()].filter(({ id }) => indexed.get(id) !== hashes.get(id));
    await index.put(changed);
    const changes = next.catalog.version !== current.catalog.version;
    current = next;
    await index.drop([...indexed.keys()].filter((id) => !documents.has(id)));
    indexed = hashes;
    if (changes) for (const listener of listeners) listener();
  }

  function update(changes: Readonly<Record<string, SourceContent>>): Promise<void> {
    const applied = updates.then(async () => {
      const proposed = new Map([...contents, ...Object.entries(changes)]);
      await swap(createGeneration(proposed));
      contents = proposed;
    });
    updates = applied.catch(() => {});
    return applied;
  }

  async function follow(source: Source, onFirst: () => void): Promise<void> {
    try {
      for await (const content of source.contents(stopping.signal)) {
        await update({ [source.id]: content }).catch((error: unknown) => refused(source, error));
        onFirst();
      }
    } catch (error) {
      refused(source, error);
    }
    onFirst();
  }

  async function start(): Promise<void> {
    await swap(current);
    const firstYields = sources.map((source) => new Promise<void>((resolve) => void follow(source, resolve)));
    await Promise.race([Promise.all(firstYields), delay(FIRST_YIELD_MS, stopping.signal)]);
  }

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
      await updates;
      await index.close();
    },
  };
}

function createGeneration(contents: ReadonlyMap<string, SourceContent>): Generation {
  const all = [...contents.values()];
  const catalog = buildCatalog({
    domains: all.flatMap((content) => content.domains),
    drafts: all.flatMap((content) => content.drafts),
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

function refused(source: Source, error: unknown): void {
  const reason = isProblem(error) || error instanceof Error ? error.message : String(error);
  publish({ type: "notice", notice: "source-refused", detail: `${source.id}: ${reason}` });
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    timer.unref();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
