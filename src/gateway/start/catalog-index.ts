import { problem } from "../../base/problems/problem.ts";
import { lazy } from "../../base/util/lazy.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Catalog } from "../../core/catalog/catalog.ts";
import type { Publish } from "../../core/telemetry/events.ts";
import type { SearchIndex } from "../../search/port/search-index.ts";
import { documentsKey, type HashedDocument, toDocuments } from "./to-search-document.ts";

const PUT_AT_ONCE = 4_096;
/** Documents that a rebuild searches for at its end. */
const PROBES = 8;

function rebuildFailed(reason: string) {
  return problem("UNAVAILABLE", {
    name: "The search index, which was rebuilt,",
    state: "not searchable",
    reason,
  });
}

/** Keeps the search index equal to the documents of the catalog. Its snapshot makes the next start faster. */
export class CatalogIndex {
  readonly #index: SearchIndex;
  readonly #publish: Publish;
  /** Hashes of the indexed documents, by id. */
  #hashes: () => ReadonlyMap<string, string> = () => new Map();
  /** Key of the catalog whose documents exactly fill the index. */
  #key: string | undefined;
  /** Whether the index differs from its snapshot. Undefined until the snapshot was read. */
  #isChanged: boolean | undefined;

  constructor(index: SearchIndex, publish: Publish) {
    this.#index = index;
    this.#publish = publish;
  }

  /** Documents from the snapshot are indexed again only if their hash changed. */
  async restore(catalog: Catalog): Promise<void> {
    const restored = await this.#index.restore?.();
    if (restored?.note === undefined) {
      if (restored?.reason)
        this.#publish({ type: "notice", notice: "snapshot-rebuilt", detail: restored.reason });
      await this.sync(catalog, { isStarting: true });
      this.#isChanged = true;
      return;
    }
    const { note } = restored;
    const end = note.indexOf("\n");
    this.#hashes = lazy(() => new Map(JSON.parse(note.slice(end + 1))));
    this.#key = end < 1 ? undefined : note.slice(0, end);
    // Without a key, the snapshot does not match one catalog: write it again.
    this.#isChanged = this.#key === undefined;
  }

  /** Indexes the documents of a catalog. During the start, documents of silent sources stay: most return unchanged. */
  async sync(
    catalog: Catalog,
    { isStarting, onFound = () => {} }: { readonly isStarting: boolean; onFound?(): void },
  ): Promise<void> {
    const key = documentsKey(catalog);
    if (key === this.#key) return onFound();
    const before = this.#hashes();
    const documents = toDocuments(catalog, catalog.entries);
    const hashes = new Map(documents.map(({ id, hash }) => [id, hash]));
    this.#key = undefined;
    await this.#put(documents.filter(({ id, hash }) => before.get(id) !== hash));
    onFound();
    const gone = [...before].filter(([id]) => !hashes.has(id));
    if (isStarting) for (const [id, hash] of gone) hashes.set(id, hash);
    else await this.#drop(gone.map(([id]) => id));
    this.#hashes = () => hashes;
    if (hashes.size === documents.length) this.#key = key;
  }

  /** Whether the index may hold documents that the catalog lacks. */
  isBehind({ entries }: Catalog): boolean {
    return this.#key === undefined && this.#hashes().size > entries.length;
  }

  /** Whether searches find nothing during a rebuild. */
  get isReset(): boolean {
    return this.#index.reset !== undefined;
  }

  /**
   * Indexes everything again.
   *
   * @throws UNAVAILABLE if nothing can be found afterwards.
   */
  async reindex(catalog: Catalog): Promise<void> {
    const documents = toDocuments(catalog, catalog.entries);
    await this.#index.reset?.();
    await this.#put(documents);
    await this.#probe(documents.map(({ make }) => make).slice(0, PROBES));
    if (!this.isReset) return;
    this.#hashes = () => new Map(documents.map(({ id, hash }) => [id, hash]));
    this.#key = documentsKey(catalog);
  }

  /** Searches for some documents by their names. */
  async #probe(samples: readonly HashedDocument["make"][]): Promise<void> {
    const searches = samples
      .map((make) => make())
      .filter(({ visibility }) => visibility !== "hidden")
      .map(({ name, scopes }) => this.#index.search({ query: name, limit: 1, filter: { scopes } }));
    const hits = await Promise.all(searches).catch((error: unknown) => {
      throw rebuildFailed(reasonOf(error));
    });
    if (hits.length > 0 && hits.every(({ length }) => length === 0))
      throw rebuildFailed("a search for the names of entries finds nothing.");
  }

  /** Makes documents in batches to limit memory. */
  async #put(documents: readonly HashedDocument[]): Promise<void> {
    if (documents.length > 0) this.#noteChange();
    for (let from = 0; from === 0 || from < documents.length; from += PUT_AT_ONCE)
      await this.#index.put(documents.slice(from, from + PUT_AT_ONCE).map(({ make }) => make()));
  }

  async #drop(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) this.#noteChange();
    await this.#index.drop(ids);
  }

  #noteChange(): void {
    if (this.#isChanged !== undefined) this.#isChanged = true;
  }

  /** Closes the index. Writes the snapshot first, if the index was filled. */
  async close(isFilled: boolean): Promise<void> {
    if (isFilled && this.#isChanged) await this.#keep();
    await this.#index.close();
  }

  async #keep(): Promise<void> {
    const note = `${this.#key ?? ""}\n${JSON.stringify([...this.#hashes()])}`;
    await this.#index.keep?.(note).catch((error: unknown) => {
      this.#publish({ type: "notice", notice: "snapshot-failed", detail: reasonOf(error) });
    });
  }
}
