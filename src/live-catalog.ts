import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Pins } from "./access/pins.ts";
import { createViews, type View } from "./access/view.ts";
import { buildCatalog, type Catalog } from "./catalog/catalog.ts";
import type { Entry, EntryDraft } from "./schema/entry.ts";
import type { Principal } from "./schema/principal.ts";
import type { SourceContent } from "./schema/source.ts";
import type { SearchDocument, SearchIndex } from "./search/search-index.ts";
import { publish } from "./telemetry/events.ts";
import { toSearchDocument } from "./to-search-document.ts";
import { contentHash } from "./util/content-hash.ts";
import { reasonOf } from "./util/reason-of.ts";

/** One catalog with what is derived from it. Replaced as a whole, never changed: calls in flight keep theirs. */
export interface Generation {
  readonly catalog: Catalog;
  viewFor(principal: Principal): View;
  /** Keeps what is worked out from this catalog for as long as it stands. */
  remember<T>(key: string, make: () => T): T;
}

/** What to put in the place of a source's content; null takes it out. */
export type Changes = Readonly<Record<string, SourceContent | null>>;

/** The catalog that is in use now, with its index. */
export interface LiveCatalog {
  readonly current: Generation;
  /** Begins to fill the index: from its snapshot where it has one. Once, before anything is searched. */
  fill(): Promise<void>;
  /** Resolves when all that the catalog holds can be found. */
  searchable(): Promise<void>;
  /** The start is over: from now on nothing is shown before it can be found. */
  settle(): void;
  /** Puts other content in the place of that of these sources. A wrong one is refused and changes nothing. */
  update(changes: Changes): Promise<void>;
  /** Lets updates wait for one another until then, so that one catalog is built of them. */
  gather(until: Promise<unknown>): void;
  /** Indexes everything again; what is searched meanwhile is there all the time. */
  reindex(): Promise<void>;
  /** Calls the listener after every swap to a catalog of another version; the answer stops it. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

interface Waiting {
  readonly changes: Changes;
  resolve(): void;
  reject(error: unknown): void;
}

const REMEMBERED = 1_000;

/** Builds the catalog of the given content at once, or throws. */
export function createLiveCatalog(
  first: { readonly id: string; readonly content: SourceContent },
  index: SearchIndex,
  pins: Pins,
): LiveCatalog {
  const createGeneration = (all: ReadonlyMap<string, SourceContent>) => toGeneration(all, pins);
  let contents: ReadonlyMap<string, SourceContent> = new Map([[first.id, first.content]]);
  let current = createGeneration(contents);
  let indexed: ReadonlyMap<string, string> = new Map();
  let filled = false;
  let filling: Promise<void> = Promise.resolve();
  let starting = true;
  let updates: Promise<void> = Promise.resolve();
  let waiting: Waiting[] = [];
  const listeners = new Set<() => void>();

  /**
   * New documents are searchable before the swap and old ones until after it: neither can be missed. At the start
   * there is nothing to search yet, so the catalog goes ahead of the index and searches wait.
   */
  async function swap(next: Generation): Promise<void> {
    if (starting) {
      show(next);
      // Whoever waits for the catalog goes first.
      filling = Promise.allSettled([filling, setImmediate()]).then(() => bringIn(next));
      // Whoever searches is told.
      filling.catch(() => {});
    } else {
      await bringIn(next, () => show(next));
      filling = Promise.resolve();
    }
  }

  function show(next: Generation): void {
    const changes = next.catalog.version !== current.catalog.version;
    current = next;
    if (changes) for (const listener of listeners) listener();
  }

  /** Makes the index that of another catalog. */
  async function bringIn(next: Generation, onFound = () => {}): Promise<void> {
    const documents = toDocuments(next.catalog);
    const hashes = new Map(documents.map(({ document, hash }) => [document.id, hash]));
    const changed = documents.filter(({ document, hash }) => indexed.get(document.id) !== hash);
    await index.put(changed.map(({ document }) => document));
    onFound();
    await index.drop([...indexed.keys()].filter((id) => !hashes.has(id)));
    indexed = hashes;
  }

  function update(changes: Changes): Promise<void> {
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

  async function apply(changes: Changes): Promise<void> {
    const proposed = new Map(contents);
    for (const [id, content] of Object.entries(changes)) {
      if (content) proposed.set(id, content);
      else proposed.delete(id);
    }
    await swap(createGeneration(proposed));
    contents = proposed;
  }

  /** What a snapshot holds need not be indexed again; what has changed since is found by its hash. */
  async function fill(): Promise<void> {
    const restored = await index.restore?.();
    if (restored?.note === undefined) {
      if (restored?.reason) publish({ type: "notice", notice: "snapshot-rebuilt", detail: restored.reason });
      await swap(current);
    } else {
      indexed = new Map(JSON.parse(restored.note));
    }
    filled = true;
  }

  async function keep(): Promise<void> {
    await index.keep?.(JSON.stringify([...indexed])).catch((error: unknown) => {
      publish({ type: "notice", notice: "snapshot-failed", detail: reasonOf(error) });
    });
  }

  // What was approved or taken back counts from the next catalog on.
  const stopWatching = pins.onChange(() => update({}).catch(() => {}));

  return {
    get current() {
      return current;
    },
    fill,
    searchable: () => filling,
    settle: () => {
      void filling
        .catch(() => {})
        .then(() => {
          starting = false;
        });
    },
    update,
    gather: (until) => {
      updates = updates.then(async () => void (await until));
    },
    reindex: () => {
      const done = updates
        .then(() => filling)
        .then(() => index.put(toDocuments(current.catalog).map(({ document }) => document)));
      updates = done.catch(() => {});
      return done;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => {
      listeners.clear();
      stopWatching();
      await updates;
      const isWhole = await filling.then(
        () => filled,
        () => false,
      );
      if (isWhole) await keep();
      await index.close();
    },
  };
}

function toGeneration(contents: ReadonlyMap<string, SourceContent>, pins: Pins): Generation {
  const all = [...contents.values()];
  const catalog = buildCatalog({
    domains: all.flatMap((content) => content.domains),
    drafts: pins.judge(withoutTaken(contents)),
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

interface HashedDocument {
  readonly document: SearchDocument;
  readonly hash: string;
  /** What of its domain is in it. */
  readonly domain: string;
}

const documents = new WeakMap<Entry, HashedDocument>();

/** In the order of the catalog. What has not changed since an earlier catalog is not made again. */
function toDocuments(catalog: Catalog): HashedDocument[] {
  const domains = new Map(
    [...catalog.domains].map(([name, { description, searchConfig }]) => [
      name,
      JSON.stringify([description, searchConfig]),
    ]),
  );
  return catalog.entries.map((entry) => {
    const domain = domains.get(entry.domain) ?? "";
    const known = documents.get(entry);
    if (known?.domain === domain) return known;
    const document = toSearchDocument(entry, catalog.domains.get(entry.domain));
    const made = { document, hash: contentHash(document).slice(0, 16), domain };
    documents.set(entry, made);
    return made;
  });
}

/** Of documents that two sources put at the same route, the one of the first source by id stays. */
function withoutTaken(contents: ReadonlyMap<string, SourceContent>): EntryDraft[] {
  const owners = new Map<string, string>();
  const [first, ...others] = contents;
  const ordered = [first!, ...others.sort(([left], [right]) => (left < right ? -1 : 1))];
  return ordered.flatMap(([id, { drafts }]) =>
    drafts.filter(({ kind, route, origin }) => {
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
  );
}
