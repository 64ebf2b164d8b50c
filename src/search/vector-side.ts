import { reasonOf } from "../util/reason-of.ts";
import { FacetTable } from "./lexical/facet-table.ts";
import { facetTest } from "./lexical/filter-mask.ts";
import type { SearchDocument, SearchFilter } from "./port/search-index.ts";
import { bestFirst, type Scored } from "./ranking/fusion.ts";
import type { Embedder } from "./vectors/embedder.ts";
import { createVectorStore, type VectorStore } from "./vectors/vector-store.ts";
import { vectorText } from "./vectors/vector-text.ts";

interface Waiting {
  readonly text: string;
  readonly facet: number;
}

const BATCH = 64;
const DEPTH = 100;
/** Rows scanned for one query at most, its clauses included: beyond, only the whole query is embedded. */
const MAX_ROWS = 400_000;
/** A query that is nearer to nothing than this is about none of it. */
const LEAST_COSINE = 0.25;
const WHOLE_WORTH = 2;
const SHARPNESS = 4;
/** A search waits for at most this many vectors. */
const MAX_WAIT = 5_000;
/** With fewer waiting than this share of the vectors there are, a search by vectors is whole enough. */
const MAX_WAITING_SHARE = 0.1;

/** The vectors of documents, made in the background; until then documents are found by their words. */
export class VectorSide {
  private readonly embedder: Embedder;
  private store: VectorStore | undefined;
  private readonly facets = new FacetTable();
  private facetOfSlot = new Uint32Array(64);
  private readonly waiting = new Map<string, Waiting>();
  private running: Promise<void> | undefined;
  private failure: string | undefined;
  private closed = false;

  constructor(embedder: Embedder) {
    this.embedder = embedder;
  }

  get embedderId(): string {
    return this.embedder.id;
  }

  /** Why the last embedding failed, until one succeeds. */
  get reason(): string | undefined {
    return this.failure;
  }

  get isInstant(): boolean {
    return this.embedder.isInstant === true;
  }

  get waitingCount(): number {
    return this.waiting.size;
  }

  get isReady(): boolean {
    const size = this.store?.size ?? 0;
    return size > 0 && this.waiting.size <= size * MAX_WAITING_SHARE;
  }

  put(documents: readonly SearchDocument[]): void {
    for (const document of documents) {
      this.store?.remove(document.id);
      if (document.visibility === "hidden") this.waiting.delete(document.id);
      else this.waiting.set(document.id, { text: vectorText(document), facet: this.facets.intern(document) });
    }
    this.start();
  }

  drop(ids: readonly string[]): void {
    for (const id of ids) {
      this.waiting.delete(id);
      this.store?.remove(id);
    }
  }

  /** Takes over saved vectors of documents whose facets are given. */
  adopt(
    store: VectorStore,
    documents: Iterable<{ id: string; facet: Parameters<FacetTable["intern"]>[0] }>,
  ): void {
    this.store = store;
    const known = new Map<unknown, number>();
    for (const { id, facet } of documents) {
      const slot = store.slotOf(id);
      if (slot === undefined) continue;
      const number = known.get(facet) ?? this.facets.intern(facet);
      known.set(facet, number);
      this.setFacet(slot, number);
    }
  }

  /** Waits for vectors that are made at once, so that the first answer after a start is the final one. */
  async nearlySettled(): Promise<void> {
    if (this.isInstant && this.waiting.size <= MAX_WAIT) await this.settled();
  }

  /** Resolves when no vector is waited for, or embedding has failed. */
  async settled(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  close(): void {
    this.closed = true;
    this.waiting.clear();
  }

  /** For `adopt`, in another process. */
  toBytes(): Uint8Array | undefined {
    return this.store?.toBytes();
  }

  reads(query: string): boolean {
    return this.embedder.reads?.(query) ?? true;
  }

  fluency(query: string): number {
    return this.embedder.fluency?.(query) ?? 1;
  }

  embedQuery(parts: readonly string[]): Promise<Float32Array[]> {
    const rows = Math.max(1, this.store?.slots ?? 1);
    return this.embedder.embed(parts.length * rows > MAX_ROWS ? parts.slice(0, 1) : parts);
  }

  /**
   * The documents nearest to a query, and how near those in `also` are, best first. `queries` are the vectors
   * of the whole query and of its clauses.
   */
  search(queries: readonly Float32Array[], filter: SearchFilter, also: Iterable<string>): Scored[] {
    const { store } = this;
    if (store === undefined) return [];
    const allowed = this.allowedSlots(filter, store);
    const candidates = new Set<number>();
    for (const query of queries)
      for (const { slot } of store.search(query, DEPTH, allowed)) candidates.add(slot);
    for (const id of also) {
      const slot = store.slotOf(id);
      if (slot !== undefined) candidates.add(slot);
    }
    const slots = [...candidates];
    const scores = new Float64Array(slots.length);
    queries.forEach((query, at) => {
      const cosines = store.cosines(query, slots);
      const best = cosines.reduce((highest, cosine) => Math.max(highest, cosine), 0);
      if (best < LEAST_COSINE) return;
      for (const [place, cosine] of cosines.entries()) {
        const near = Math.max(0, cosine / best);
        scores[place]! += at === 0 ? WHOLE_WORTH * near : near ** SHARPNESS;
      }
    });
    return slots
      .map((slot, place) => ({ id: store.idOf(slot)!, score: scores[place]! }))
      .filter(({ score }) => score > 0)
      .sort(bestFirst);
  }

  private start(): void {
    if (this.running !== undefined || this.closed || this.waiting.size === 0) return;
    this.running = this.work().finally(() => {
      this.running = undefined;
    });
  }

  private async work(): Promise<void> {
    // A turn of the event loop first, so that a put answers before its vectors are made.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.waiting.size > 0) {
      const batch = [...this.waiting.entries()].slice(0, BATCH);
      try {
        const texts = batch.map(([, { text }]) => text);
        const vectors = await (this.embedder.embedDocuments?.(texts) ?? this.embedder.embed(texts));
        for (const [at, entry] of batch.entries()) this.settle(entry, vectors[at]!);
        this.failure = undefined;
      } catch (error) {
        this.failure = reasonOf(error);
        return;
      }
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  /** Stores a vector, unless the document has changed or gone while it was made. */
  private settle([id, waiting]: readonly [string, Waiting], vector: Float32Array): void {
    if (this.waiting.get(id) !== waiting) return;
    this.waiting.delete(id);
    this.store ??= createVectorStore(vector.length);
    this.setFacet(this.store.put(id, vector), waiting.facet);
  }

  private setFacet(slot: number, facet: number): void {
    if (slot >= this.facetOfSlot.length) {
      const larger = new Uint32Array(Math.max(slot + 1, this.facetOfSlot.length * 2));
      larger.set(this.facetOfSlot);
      this.facetOfSlot = larger;
    }
    this.facetOfSlot[slot] = facet;
  }

  /** A bit for each slot whose document passes; undefined where all do. */
  private allowedSlots(filter: SearchFilter, store: VectorStore): Uint32Array | undefined {
    const passes = facetTest(filter);
    const passing = Uint8Array.from(this.facets.facets, (facet) => (passes(facet) ? 1 : 0));
    if (passing.every((bit) => bit === 1)) return undefined;
    const mask = new Uint32Array(Math.ceil(store.slots / 32));
    for (let slot = 0; slot < store.slots; slot++) {
      mask[slot >>> 5]! |= passing[this.facetOfSlot[slot]!]! << (slot & 31);
    }
    return mask;
  }
}
