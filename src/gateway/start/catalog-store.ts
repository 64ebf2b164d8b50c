import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { lazy } from "../../base/util/lazy.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Pins } from "../../core/access/pins.ts";
import { createViews } from "../../core/access/view.ts";
import { buildCatalog } from "../../core/catalog/catalog.ts";
import type { Draft } from "../../core/nouns/entry.ts";
import type { SourceContent } from "../../core/nouns/source.ts";
import { publish } from "../../core/telemetry/events.ts";
import type { SearchIndex } from "../../search/port/search-index.ts";
import { type Generation, type StartState, WAITS } from "./availability.ts";
import { withTimeout } from "./in-flight.ts";
import { documentsKey, type HashedDocument, toDocuments } from "./to-search-document.ts";

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
  let state: StartState = "loading";
  const usable = Promise.withResolvers<void>();
  /** Resolves with the first search. */
  const wanted = Promise.withResolvers<void>();
  let filled = false;
  /** Whether the index differs from its snapshot. */
  let isChanged = true;
  let filling: Promise<void> = Promise.resolve();
  /** Whether the index follows the catalog. Before that, the catalog is visible first and searches wait. */
  let isInStep = false;
  let lastBuildMs = 0;
  let updates: Promise<void> = Promise.resolve();
  let waiting: WaitingUpdate[] = [];
  const listeners = new Set<() => void>();

  /** Adds new documents before the swap and drops old ones after it, so that no search misses either. */
  async function swap(next: Generation): Promise<void> {
    if (isInStep) {
      await syncIndex(next, () => show(next));
      filling = Promise.resolve();
    } else {
      show(next);
      // Lets callers that wait for the catalog run first.
      filling = Promise.allSettled([filling, setImmediate()]).then(() => syncIndex(next));
      // Searches report the failure.
      filling.catch(() => {});
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
    if (isInStep) {
      isChanged ||= gone.length > 0;
      await index.drop(gone.map(([id]) => id));
      // During the start, documents of sources that have not delivered yet stay: most come again unchanged.
    } else for (const [id, hash] of gone) hashes.set(id, hash);
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
    if (!isInStep && waiting.length > 0 && lastBuildMs >= WAITS.longBuildMs) await sleep(2 * lastBuildMs);
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
   * Takes the catalog from `loading` to `complete`; call it once. Updates are held back until the quick sources are
   * gathered, so that they share one build.
   */
  async function begin(gathered: Promise<void>, delivered: Promise<void>): Promise<void> {
    // The snapshot is large and listing tools needs none of it, so a search or the time after the first list reads it.
    const listed = usable.promise.then(() => withTimeout(wanted.promise, WAITS.listingMs));
    filling = Promise.allSettled([filling, listed]).then(restore);
    filling.catch(() => {});
    updates = updates.then(() => gathered);
    await gathered;
    await updates;
    reach("usable");
    await delivered;
    reach("complete");
    void filling
      .catch(() => {})
      .then(() => {
        isInStep = true;
        updates = updates.then(dropStaleDocuments).catch(() => {});
      });
  }

  function reach(next: StartState): void {
    state = next;
    usable.resolve();
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

  // Approvals take effect with the next catalog.
  const stopWatching = pins.onChange(() =>
    // Revoked entries go even if the index cannot be written.
    update({}).catch(() => show(toGeneration(contents, pins))),
  );

  return {
    get current(): Generation {
      return current;
    },
    get state(): StartState {
      return state;
    },
    usable: usable.promise,
    begin,
    /** Resolves when everything in the catalog can be found. */
    searchable: (): Promise<void> => {
      wanted.resolve();
      return filling;
    },
    update,
    /** Indexes everything again. Entries can be found all the time. */
    reindex: (): Promise<void> => {
      const done = updates
        .then(() => filling)
        .then(() => put(toDocuments(current.catalog, current.catalog.entries)));
      updates = done.catch(() => {});
      return done;
    },
    onChange,
    close: async (): Promise<void> => {
      listeners.clear();
      stopWatching();
      usable.resolve();
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
