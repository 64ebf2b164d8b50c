import { setImmediate } from "node:timers/promises";
import { reasonOf } from "../base/util/reason-of.ts";
import { facetMask, filterKey } from "./lexical/live-segment.ts";
import { FacetTable, lengthened, type Segment, type StringTable } from "./lexical/segment.ts";
import type { SearchDocument, SearchFilter } from "./port/search-index.ts";
import { bestFirst, blendCosines, type Scored } from "./ranking/fusion.ts";
import { VECTORS } from "./ranking/tuning.ts";
import type { SavedVectors } from "./snapshot.ts";
import { type Embedder, vectorText } from "./vectors/embedder.ts";
import { createVectorStore, type VectorStore } from "./vectors/vector-store.ts";

interface WaitingVectors {
  readonly text: string;
  readonly facet: number;
}

const BATCH = 64;
/** Most rows to scan for one query with its clauses. Beyond this, only the whole query is embedded. */
const MAX_ROWS = 400_000;
/** A search waits for at most this many vectors. */
const MAX_WAIT = 5_000;
/** Cached filters. */
const MAX_MASKS = 16;
/** If fewer than this share of the vectors are missing, search by vectors is complete enough. */
const MAX_WAITING_SHARE = 0.1;

/** Vectors of documents, created in the background. Until then words find the documents. */
export class VectorIndex {
  readonly embedder: Embedder;
  /** Reason of the last failed embedding, until one succeeds. */
  reason: string | undefined;
  private store: VectorStore | undefined;
  private readonly facets = new FacetTable();
  private facetOfSlot = new Uint32Array(64);
  private readonly waiting = new Map<string, WaitingVectors>();
  private running: Promise<void> | undefined;
  private coding: Promise<void> | undefined;
  /** By filter: a bit for each matching slot, until a slot changes its facet. */
  private readonly masks = new Map<string, Uint32Array | undefined>();
  private closed = false;

  constructor(embedder: Embedder) {
    this.embedder = embedder;
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

  /** Uses saved vectors for a segment's documents. */
  adopt(store: VectorStore, { facets, facetOf }: Segment): void {
    this.store = store;
    const numbers = facets.map((facet) => this.facets.intern(facet));
    this.facetOfSlot = facetOf.map((facet) => numbers[facet]!);
    this.masks.clear();
    this.startCoding();
  }

  /** Waits for vectors of instant embedders, so that the first answer after a start is final. */
  async nearlySettled(): Promise<void> {
    if (this.embedder.isInstant && this.waiting.size <= MAX_WAIT) await this.allMade();
  }

  /** Resolves when no vectors are missing, or embedding has failed, and codes are ready. */
  async settled(): Promise<void> {
    await this.allMade();
    await this.coding;
  }

  private async allMade(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  close(): void {
    this.closed = true;
    this.waiting.clear();
  }

  /** The vectors of these documents, for `adopt` in another process. */
  contents(ids: StringTable): SavedVectors | undefined {
    return this.store && { embedder: this.embedder.id, ...this.store.contents(ids) };
  }

  async embedQuery(parts: readonly string[]): Promise<Float32Array[]> {
    const rows = Math.max(1, this.store?.slots ?? 1);
    return this.embedder.embed(parts.length * rows > MAX_ROWS ? parts.slice(0, 1) : parts);
  }

  /** The nearest documents and the similarity of `also`, best first. `queries`: the whole query, then its clauses. */
  search(queries: readonly Float32Array[], filter: SearchFilter, also: Iterable<string>): Scored[] {
    const { store } = this;
    if (store === undefined) return [];
    const allowed = this.allowedSlots(filter, store);
    const candidates = new Set<number>();
    for (const query of queries)
      for (const { slot } of store.search(query, VECTORS.depth, allowed)) candidates.add(slot);
    for (const id of also) {
      const slot = store.slotOf(id);
      if (slot !== undefined) candidates.add(slot);
    }
    const slots = [...candidates];
    const scores = blendCosines(queries.map((query) => store.cosines(query, slots)));
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
    // Yields to the event loop first, so that a put answers before its vectors are created.
    await setImmediate();
    while (this.waiting.size > 0) {
      const batch = [...this.waiting.entries()].slice(0, BATCH);
      try {
        const texts = batch.map(([, { text }]) => text);
        const vectors = await (this.embedder.embedDocuments?.(texts) ?? this.embedder.embed(texts));
        for (const [at, entry] of batch.entries()) this.settle(entry, vectors[at]!);
        this.reason = undefined;
      } catch (error) {
        this.reason = reasonOf(error);
        return;
      }
      await setImmediate();
    }
    this.startCoding();
  }

  /** Searches do not wait for codes: until these are ready, every vector is compared. */
  private startCoding(): void {
    if (this.coding !== undefined || this.store?.wantsCodes !== true) return;
    this.coding = this.code(this.store).finally(() => {
      this.coding = undefined;
    });
  }

  private async code(store: VectorStore): Promise<void> {
    for (const _ of store.makeCodes()) {
      await setImmediate();
      if (this.closed) return;
    }
  }

  /** Stores a vector, unless its document changed or was removed meanwhile. */
  private settle([id, waiting]: readonly [string, WaitingVectors], vector: Float32Array): void {
    if (this.waiting.get(id) !== waiting) return;
    this.waiting.delete(id);
    this.store ??= createVectorStore(vector.length);
    this.setFacet(this.store.put(id, vector), waiting.facet);
  }

  private setFacet(slot: number, facet: number): void {
    const { length } = this.facetOfSlot;
    if (slot >= length) this.facetOfSlot = lengthened(this.facetOfSlot, Math.max(slot + 1, length * 2));
    this.facetOfSlot[slot] = facet;
    this.masks.clear();
  }

  /** A bit for each slot with a matching document; undefined if all match. */
  private allowedSlots(filter: SearchFilter, store: VectorStore): Uint32Array | undefined {
    const key = filterKey(filter);
    if (!this.masks.has(key)) {
      if (this.masks.size >= MAX_MASKS) this.masks.clear();
      this.masks.set(key, facetMask(this.facets.facets, this.facetOfSlot, store.slots, filter));
    }
    return this.masks.get(key);
  }
}
