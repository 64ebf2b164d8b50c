import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Pins } from "./access/pins.ts";
import { createViews, type View } from "./access/view.ts";
import { buildCatalog, type Catalog } from "./catalog/catalog.ts";
import type { Draft, Entry } from "./schema/entry.ts";
import type { Principal } from "./schema/principal.ts";
import type { SourceContent } from "./schema/source.ts";
import type { SearchDocument, SearchIndex } from "./search/port/search-index.ts";
import { publish } from "./telemetry/events.ts";
import { toSearchDocument } from "./to-search-document.ts";
import { contentHash } from "./util/content-hash.ts";
import { lazy } from "./util/lazy.ts";
import { reasonOf } from "./util/reason-of.ts";
import { soonest } from "./util/soonest.ts";

/** One catalog and everything derived from it. Immutable: calls in flight keep their generation. */
export interface Generation {
  readonly catalog: Catalog;
  viewFor(principal: Principal): View;
  /** Caches a value that is derived from this catalog. */
  remember<T>(key: string, make: () => T): T;
}

/** New content by source id; null removes a source. */
export type Changes = Readonly<Record<string, SourceContent | null>>;

/** The catalog in use, with its index. */
export interface LiveCatalog {
  readonly current: Generation;
  /**
   * Fills the index, from its snapshot if there is one, as soon as there is a catalog to list. Call it once, before
   * any search.
   */
  fill(): void;
  /** Resolves when everything in the catalog can be found. */
  searchable(): Promise<void>;
  /** Ends the start: from now on entries are shown only when they can be found. */
  settle(): void;
  /** Replaces the content of these sources. Rejects invalid content, which changes nothing. */
  update(changes: Changes): Promise<void>;
  /** Holds updates back until then, so that one catalog is built from them. Resolves when it is in use. */
  gather(until: Promise<unknown>): Promise<void>;
  /** Indexes everything again. Entries can be found all the time. */
  reindex(): Promise<void>;
  /** Resolves when the catalog in use meets the condition, at the latest after this time. */
  until(isMet: (generation: Generation) => boolean, ms: number): Promise<void>;
  /** Calls the listener when the catalog changes. Returns unsubscribe. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

interface Waiting {
  readonly changes: Changes;
  resolve(): void;
  reject(error: unknown): void;
}

const REMEMBERED = 1_000;
const PUT_AT_ONCE = 4_096;
/** The first list of tools is answered within this time after there is a catalog. */
const LISTING_MS = 100;
/** A build that takes longer is worth waiting for more to build at once. */
const LONG_BUILD_MS = 10;

/** Creates the live catalog with its first content. Throws CATALOG_INVALID. */
export function createLiveCatalog(
  first: { readonly id: string; readonly content: SourceContent },
  index: SearchIndex,
  pins: Pins,
): LiveCatalog {
  const createGeneration = (all: ReadonlyMap<string, SourceContent>) => toGeneration(all, pins);
  let contents: ReadonlyMap<string, SourceContent> = new Map([[first.id, first.content]]);
  let current = createGeneration(contents);
  let indexed: () => ReadonlyMap<string, string> = () => new Map();
  /** Identifies the catalog whose documents are exactly those in the index. */
  let indexedKey: string | undefined;
  /** Resolves when a catalog is shown or none will be. */
  const shown = Promise.withResolvers<void>();
  /** Resolves when somebody searches. */
  const wanted = Promise.withResolvers<void>();
  let filled = false;
  /** Whether the index differs from its snapshot. */
  let isChanged = true;
  let filling: Promise<void> = Promise.resolve();
  let starting = true;
  let lastBuildMs = 0;
  let updates: Promise<void> = Promise.resolve();
  let waiting: Waiting[] = [];
  const listeners = new Set<() => void>();

  /**
   * New documents are searchable before the swap and old ones until after it, so no search misses either. At the
   * start the catalog is shown before it is indexed, and searches wait.
   */
  async function swap(next: Generation): Promise<void> {
    if (starting) {
      show(next);
      shown.resolve();
      // Lets callers that wait for the catalog run first.
      filling = Promise.allSettled([filling, setImmediate()]).then(() => bringIn(next));
      // Searches report the failure.
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

  /** Brings the index to another catalog. */
  async function bringIn(next: Generation, onFound = () => {}): Promise<void> {
    const key = documentsKey(next.catalog);
    if (key === indexedKey) return onFound();
    const before = indexed();
    const documents = toDocuments(next.catalog, next.catalog.entries);
    const hashes = new Map(documents.map(({ id, hash }) => [id, hash]));
    indexedKey = undefined;
    await put(documents.filter(({ id, hash }) => before.get(id) !== hash));
    onFound();
    const gone = [...before].filter(([id]) => !hashes.has(id));
    // At the start the documents of a source that is late stay: it mostly has the same ones again.
    if (starting) for (const [id, hash] of gone) hashes.set(id, hash);
    else {
      isChanged ||= gone.length > 0;
      await index.drop(gone.map(([id]) => id));
    }
    indexed = () => hashes;
    if (hashes.size === documents.length) indexedKey = key;
  }

  /** Documents that stayed although no source has them any more go when the start is over. */
  async function dropLeft(): Promise<void> {
    const { catalog } = current;
    if (indexedKey === undefined && indexed().size > catalog.entries.length) await bringIn(current);
  }

  /** Makes the documents of many entries in parts, because all of them would take much memory. */
  async function put(documents: readonly HashedDocument[]): Promise<void> {
    isChanged ||= documents.length > 0;
    for (let from = 0; from === 0 || from < documents.length; from += PUT_AT_ONCE)
      await index.put(documents.slice(from, from + PUT_AT_ONCE).map(({ make }) => make()));
  }

  function update(changes: Changes): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push({ changes, resolve, reject });
    updates = updates.then(applyWaiting);
    return promise;
  }

  /** Combines updates that arrived meanwhile into one catalog. If that fails, each is applied alone. */
  async function applyWaiting(): Promise<void> {
    // Sources that deliver one after the other at the start must not each cost a build of the whole catalog.
    if (starting && waiting.length > 0 && lastBuildMs >= LONG_BUILD_MS) await sleep(2 * lastBuildMs);
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
    const began = performance.now();
    const next = createGeneration(proposed);
    lastBuildMs = performance.now() - began;
    await swap(next);
    contents = proposed;
  }

  /** A snapshot is large, and the list of tools needs none: it is read when somebody searches, or shortly after. */
  function fill(): void {
    const begun = Promise.allSettled([
      filling,
      shown.promise.then(() => soonest(wanted.promise, LISTING_MS)),
    ]);
    filling = begun.then(restore);
    filling.catch(() => {});
  }

  /** Documents in the snapshot are indexed again only if their hash has changed. */
  async function restore(): Promise<void> {
    const restored = await index.restore?.();
    if (restored?.note === undefined) {
      if (restored?.reason) publish({ type: "notice", notice: "snapshot-rebuilt", detail: restored.reason });
      await bringIn(current);
    } else {
      const { note } = restored;
      const end = note.indexOf("\n");
      indexed = lazy(() => new Map(JSON.parse(note.slice(end + 1))));
      indexedKey = end < 1 ? undefined : note.slice(0, end);
      // A snapshot without the key is written again with it.
      isChanged = indexedKey === undefined;
    }
    filled = true;
  }

  async function keep(): Promise<void> {
    await index.keep?.(`${indexedKey ?? ""}\n${JSON.stringify([...indexed()])}`).catch((error: unknown) => {
      publish({ type: "notice", notice: "snapshot-failed", detail: reasonOf(error) });
    });
  }

  function onChange(listener: () => void): () => void {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  async function until(isMet: (generation: Generation) => boolean, ms: number): Promise<void> {
    if (isMet(current)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = onChange(() => {
      if (isMet(current)) resolve();
    });
    await soonest(promise, ms);
    stop();
  }

  // Approvals take effect with the next catalog.
  const stopWatching = pins.onChange(() =>
    // Revoked entries go even if the index cannot be written.
    update({}).catch(() => show(createGeneration(contents))),
  );

  return {
    get current() {
      return current;
    },
    fill,
    searchable: () => {
      wanted.resolve();
      return filling;
    },
    settle: () => {
      shown.resolve();
      void filling
        .catch(() => {})
        .then(() => {
          starting = false;
          updates = updates.then(dropLeft).catch(() => {});
        });
    },
    update,
    gather: async (until) => {
      updates = updates.then(async () => void (await until));
      await until;
      await updates;
    },
    reindex: () => {
      const done = updates
        .then(() => filling)
        .then(() => put(toDocuments(current.catalog, current.catalog.entries)));
      updates = done.catch(() => {});
      return done;
    },
    until,
    onChange,
    close: async () => {
      listeners.clear();
      stopWatching();
      shown.resolve();
      wanted.resolve();
      await updates;
      const isWhole = await filling.then(
        () => filled,
        () => false,
      );
      if (isWhole && isChanged) await keep();
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
  for (const entry of catalog.entries) {
    // An entry that is not read yet is told of when somebody wants it.
    if (entry.kept || entry.status?.state !== "invalid") continue;
    publish({ type: "notice", notice: "entry-invalid", detail: `${entry.route}: ${entry.status.reason}` });
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
  readonly id: string;
  readonly hash: string;
  make(): SearchDocument;
  /** Text of its domain that it contains. */
  readonly domain: string;
}

const documents = new WeakMap<Entry, HashedDocument>();

/** Returns the documents in catalog order. Reuses those of unchanged entries, and reads no entry for its hash. */
function toDocuments(catalog: Catalog, entries: readonly Entry[]): HashedDocument[] {
  const domains = new Map(
    [...catalog.domains].map(([name, { description, searchConfig, scopes }]) => {
      const text = JSON.stringify([description, searchConfig, scopes]);
      return [name, { text, hash: contentHash(text).slice(0, 8) }];
    }),
  );
  return entries.map((entry) => {
    const { text: domain, hash: domainHash } = domains.get(entry.domain) ?? { text: "", hash: "" };
    const toDocument = () => toSearchDocument(entry, catalog.domains.get(entry.domain));
    if (entry.kept)
      return { id: entry.route, hash: domainHash + entry.kept.digest, domain, make: toDocument };
    const known = documents.get(entry);
    if (known?.domain === domain) return known;
    const document = toDocument();
    const hash = contentHash(document).slice(0, 16);
    const made = { id: document.id, hash, domain, make: () => document };
    documents.set(entry, made);
    return made;
  });
}

/** Equal for catalogs with the same documents. The version covers those of kept entries. */
function documentsKey(catalog: Catalog): string {
  const whole = toDocuments(
    catalog,
    catalog.entries.filter(({ kept }) => !kept),
  );
  return contentHash([catalog.version, ...whole.map(({ hash }) => hash)]);
}

/** If two sources have a document at one route, the first source by id wins. */
function withoutTaken(contents: ReadonlyMap<string, SourceContent>): Draft[] {
  const owners = new Map<string, string>();
  const [first, ...others] = contents;
  const ordered = [first!, ...others.sort(([left], [right]) => (left < right ? -1 : 1))];
  return ordered.flatMap(([id, { drafts, kept = [] }]) => [
    ...kept,
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
