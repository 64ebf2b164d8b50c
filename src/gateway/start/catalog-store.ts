import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { lazy } from "../../base/util/lazy.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Pins } from "../../core/access/pins.ts";
import { createViews, type View } from "../../core/access/view.ts";
import { buildCatalog, type Catalog } from "../../core/catalog/catalog.ts";
import type { Draft } from "../../core/nouns/entry.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import type { SourceContent } from "../../core/nouns/source.ts";
import { publish } from "../../core/telemetry/events.ts";
import type { SearchIndex } from "../../search/port/search-index.ts";
import { withTimeout } from "./in-flight.ts";
import { documentsKey, type HashedDocument, toDocuments } from "./to-search-document.ts";

/** One catalog and everything derived from it. Immutable: calls in flight keep their generation. */
export interface Generation {
  readonly catalog: Catalog;
  viewFor(principal: Principal): View;
}

/** New content by source id; null removes a source. */
export type Changes = Readonly<Record<string, SourceContent | null>>;

/** The catalog in use, with its index. */
export type CatalogStore = ReturnType<typeof createCatalogStore>;

interface WaitingUpdate {
  readonly changes: Changes;
  resolve(): void;
  reject(error: unknown): void;
}

const PUT_AT_ONCE = 4_096;
/** The first list of tools is answered within this time after there is a catalog. */
const LISTING_MS = 100;
/** After a build that took longer, updates wait for each other. */
const LONG_BUILD_MS = 10;

/**
 * Creates the store with its first content.
 *
 * @throws CATALOG_INVALID
 */
export function createCatalogStore(
  first: { readonly id: string; readonly content: SourceContent },
  index: SearchIndex,
  pins: Pins,
) {
  let contents: ReadonlyMap<string, SourceContent> = new Map([[first.id, first.content]]);
  let current = toGeneration(contents, pins);
  let indexed: () => ReadonlyMap<string, string> = () => new Map();
  /** Identifies the catalog whose documents are exactly those in the index. */
  let indexedKey: string | undefined;
  /** Resolves once the first catalog is visible, or the gateway closes. */
  const shown = Promise.withResolvers<void>();
  /** Resolves with the first search. */
  const wanted = Promise.withResolvers<void>();
  let filled = false;
  /** Whether the index differs from its snapshot. */
  let isChanged = true;
  let filling: Promise<void> = Promise.resolve();
  let starting = true;
  let lastBuildMs = 0;
  let updates: Promise<void> = Promise.resolve();
  let waiting: WaitingUpdate[] = [];
  const listeners = new Set<() => void>();

  /**
   * Adds new documents before the swap and drops old ones after it, so that no search misses either. During the start
   * the catalog is visible before it is indexed, and searches wait.
   */
  async function swap(next: Generation): Promise<void> {
    if (starting) {
      show(next);
      shown.resolve();
      // Lets callers that wait for the catalog run first.
      filling = Promise.allSettled([filling, setImmediate()]).then(() => syncIndex(next));
      // Searches report the failure.
      filling.catch(() => {});
    } else {
      await syncIndex(next, () => show(next));
      filling = Promise.resolve();
    }
  }

  function show(next: Generation): void {
    const changes = next.catalog.version !== current.catalog.version;
    current = next;
    if (changes) for (const listener of listeners) listener();
  }

  /** Makes the index hold exactly the documents of a catalog. */
  async function syncIndex(next: Generation, onFound = () => {}): Promise<void> {
    const key = documentsKey(next.catalog);
    if (key === indexedKey) return onFound();
    const before = indexed();
    const documents = toDocuments(next.catalog, next.catalog.entries);
    const hashes = new Map(documents.map(({ id, hash }) => [id, hash]));
    indexedKey = undefined;
    await put(documents.filter(({ id, hash }) => before.get(id) !== hash));
    onFound();
    const gone = [...before].filter(([id]) => !hashes.has(id));
    // During the start, documents of sources that have not delivered yet stay: most come again unchanged.
    if (starting) for (const [id, hash] of gone) hashes.set(id, hash);
    else {
      isChanged ||= gone.length > 0;
      await index.drop(gone.map(([id]) => id));
    }
    indexed = () => hashes;
    if (hashes.size === documents.length) indexedKey = key;
  }

  /** After the start, drops documents that no source has any more. */
  async function dropStaleDocuments(): Promise<void> {
    const { catalog } = current;
    if (indexedKey === undefined && indexed().size > catalog.entries.length) await syncIndex(current);
  }

  /** Makes documents in parts: those of all entries at once would take much memory. */
  async function put(documents: readonly HashedDocument[]): Promise<void> {
    isChanged ||= documents.length > 0;
    for (let from = 0; from === 0 || from < documents.length; from += PUT_AT_ONCE)
      await index.put(documents.slice(from, from + PUT_AT_ONCE).map(({ make }) => make()));
  }

  /** Replaces the content of these sources. Rejects invalid content, which changes nothing. */
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
    const next = toGeneration(proposed, pins);
    lastBuildMs = performance.now() - began;
    await swap(next);
    contents = proposed;
  }

  /**
   * Starts to fill the index; call it once, before any search. The snapshot is large and listing tools needs none of it,
   * so it is read at the first search, or LISTING_MS after the first catalog.
   */
  function startIndexing(): void {
    const begun = Promise.allSettled([
      filling,
      shown.promise.then(() => withTimeout(wanted.promise, LISTING_MS)),
    ]);
    filling = begun.then(restore);
    filling.catch(() => {});
  }

  /** Documents in the snapshot are indexed again only if their hash has changed. */
  async function restore(): Promise<void> {
    const restored = await index.restore?.();
    if (restored?.note === undefined) {
      if (restored?.reason) publish({ type: "notice", notice: "snapshot-rebuilt", detail: restored.reason });
      await syncIndex(current);
    } else {
      const { note } = restored;
      const end = note.indexOf("\n");
      indexed = lazy(() => new Map(JSON.parse(note.slice(end + 1))));
      indexedKey = end < 1 ? undefined : note.slice(0, end);
      // Without a key, the snapshot holds other documents than its catalog had: write it again.
      isChanged = indexedKey === undefined;
    }
    filled = true;
  }

  async function keep(): Promise<void> {
    await index.keep?.(`${indexedKey ?? ""}\n${JSON.stringify([...indexed()])}`).catch((error: unknown) => {
      publish({ type: "notice", notice: "snapshot-failed", detail: reasonOf(error) });
    });
  }

  /** Calls the listener when the catalog changes. Returns unsubscribe. */
  function onChange(listener: () => void): () => void {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Resolves when the catalog in use meets the condition, at the latest after this time. */
  async function until(isMet: (generation: Generation) => boolean, ms: number): Promise<void> {
    if (isMet(current)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = onChange(() => {
      if (isMet(current)) resolve();
    });
    await withTimeout(promise, ms);
    stop();
  }

  // Approvals take effect with the next catalog.
  const stopWatching = pins.onChange(() =>
    // Revoked entries go even if the index cannot be written.
    update({}).catch(() => show(toGeneration(contents, pins))),
  );

  return {
    get current(): Generation {
      return current;
    },
    startIndexing,
    /** Resolves when everything in the catalog can be found. */
    searchable: (): Promise<void> => {
      wanted.resolve();
      return filling;
    },
    /** Ends the start: from now on, new entries are visible only once search finds them. */
    endStartup: (): void => {
      shown.resolve();
      void filling
        .catch(() => {})
        .then(() => {
          starting = false;
          updates = updates.then(dropStaleDocuments).catch(() => {});
        });
    },
    update,
    /** Holds updates back until `until` resolves, then builds one catalog from all of them. Resolves when it is in use. */
    batchUpdates: async (until: Promise<unknown>): Promise<void> => {
      updates = updates.then(async () => void (await until));
      await until;
      await updates;
    },
    /** Indexes everything again. Entries can be found all the time. */
    reindex: (): Promise<void> => {
      const done = updates
        .then(() => filling)
        .then(() => put(toDocuments(current.catalog, current.catalog.entries)));
      updates = done.catch(() => {});
      return done;
    },
    until,
    onChange,
    close: async (): Promise<void> => {
      listeners.clear();
      stopWatching();
      shown.resolve();
      wanted.resolve();
      await updates;
      const [{ status }] = await Promise.allSettled([filling]);
      if (status === "fulfilled" && filled && isChanged) await keep();
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
    // A lazy entry is checked when it is read.
    if (entry.kept || entry.status?.state !== "invalid") continue;
    publish({ type: "notice", notice: "entry-invalid", detail: `${entry.route}: ${entry.status.reason}` });
  }
  return { catalog, viewFor: createViews(catalog) };
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
