import { type Problem, problem } from "../../base/problems/problem.ts";
import { TopHits } from "../lexical/score-segment.ts";
import { hasBit, lengthened, type StringTable } from "../lexical/segment.ts";
import { learnCodes } from "./codebook.ts";
import {
  CHUNK_ROWS,
  createKernelBlock,
  createPlainBlock,
  type DotBlock,
  MAXIMUM_DIMENSIONS,
  quantize,
  strideOf,
} from "./dot-block.ts";
import { SlotIds } from "./slot-ids.ts";
import { createVectorCodes, type SavedCodes, type VectorCodes } from "./vector-codes.ts";

/** One bit per slot, lowest bit first: set if the slot may be found. Missing bits are not set. */
type SlotFilter = Uint32Array;

interface VectorSlot {
  readonly slot: number;
  readonly id: string;
}

interface VectorHit extends VectorSlot {
  readonly score: number;
}

/** Saved vectors, one for each id of a table. */
export interface VectorContents {
  readonly dimensions: number;
  /** `MISSING` for an id without a vector. */
  readonly scales: Float32Array;
  readonly rows: Int8Array;
  readonly codes?: SavedCodes;
}

export interface VectorStoreOptions {
  /** `plain` avoids WebAssembly. Default: the kernel, if it runs. */
  readonly engine?: "kernel" | "plain";
  /** From this many vectors on, searches use codes. Below, they compare every vector. */
  readonly codedFrom?: number;
}

/** An exact scan of this many vectors takes about a millisecond. */
const CODED_FROM = 50_000;
/** Vectors selected by codes for exact comparison. With a million vectors, R@10 is above .99. */
const CANDIDATES = 4_096;
/** Training vectors of a codebook: hundreds for each of its values. */
const SAMPLE = 8_192;
/** Vectors to encode between two turns of the event loop: a few milliseconds. */
const CODE_STEP = 1_024;
const MISSING = -1;

/** An empty store for vectors with this many components. */
export function createVectorStore(dimensions: number, options: VectorStoreOptions = {}): VectorStore {
  checkDimensions(dimensions);
  return new VectorStore(dimensions, createBlock(dimensions, options), options);
}

/** Memory to read saved rows into, and the store built on it. */
export function prepareVectorStore(
  dimensions: number,
  count: number,
  options: VectorStoreOptions = {},
): {
  readonly rows: Int8Array;
  finish(ids: StringTable, saved: Omit<VectorContents, "rows" | "dimensions">): VectorStore;
} {
  checkDimensions(dimensions);
  const block = createBlock(dimensions, options);
  reserve(block, count);
  return {
    rows: block.rows(count),
    finish(ids, { scales, codes }) {
      const slots = new SlotIds(ids, (slot) => scales[slot] !== MISSING);
      return new VectorStore(dimensions, block, options, { ids: slots, scales, codes });
    },
  };
}

/** Vectors as int8 rows. A slot is a vector's number, stable until it is removed. */
export class VectorStore {
  private readonly dimensions: number;
  private readonly block: DotBlock;
  private readonly codedFrom: number;
  private readonly ids: SlotIds;
  private readonly queryRow: Int8Array;
  private scales: Float32Array;
  /** Without the kernel every vector is compared. */
  private canCode: boolean;
  private codes: VectorCodes | undefined;
  /** The running encoding, for slots before `codedTo`. */
  private coding: { readonly codes: VectorCodes; codedTo: number } | undefined;

  constructor(
    dimensions: number,
    block: DotBlock,
    { codedFrom = CODED_FROM }: VectorStoreOptions,
    saved: { ids: SlotIds; scales: Float32Array; codes?: SavedCodes | undefined } = {
      ids: new SlotIds(),
      scales: new Float32Array(0),
    },
  ) {
    this.dimensions = dimensions;
    this.block = block;
    this.codedFrom = codedFrom;
    this.ids = saved.ids;
    this.scales = saved.scales;
    this.queryRow = new Int8Array(strideOf(dimensions));
    this.canCode = !block.isPlain;
    this.codes = saved.codes && this.canCode ? createVectorCodes(saved.codes) : undefined;
  }

  get size(): number {
    return this.ids.size;
  }

  /** One more than the highest slot in use: the number of bits in a filter. */
  get slots(): number {
    return this.ids.slots;
  }

  slotOf(id: string): number | undefined {
    return this.ids.slotOf(id);
  }

  idOf(slot: number): string | undefined {
    return this.ids.idOf(slot);
  }

  /** Adds the vector, or replaces that of the same id. Returns its slot. */
  put(id: string, vector: Float32Array): number {
    const scale = this.quantized(vector);
    const slot = this.ids.slotOf(id) ?? this.claimSlot(id);
    this.block.row(slot).set(this.queryRow);
    this.scales[slot] = scale;
    this.codes?.put(slot, this.queryRow, scale);
    if (this.coding !== undefined && slot < this.coding.codedTo)
      this.coding.codes.put(slot, this.queryRow, scale);
    return slot;
  }

  /** False if the vector does not exist. The slot is reused. */
  remove(id: string): boolean {
    const slot = this.ids.release(id);
    if (slot === undefined) return false;
    this.scales[slot] = 0;
    this.block.row(slot).fill(0);
    return true;
  }

  /**
   * The best `limit` by cosine, ties by id. A query of all zeroes finds nothing. Compares every vector or, with codes,
   * those whose codes are most similar to the query.
   */
  search(query: Float32Array, limit: number, filter?: SlotFilter): VectorHit[] {
    const queryScale = this.quantized(query);
    if (queryScale === 0 || !(limit >= 1)) return [];
    const best = new TopHits<VectorSlot>(Math.min(limit, this.size), (one, other) => one.id < other.id);
    this.block.setQuery(this.queryRow);
    if (this.codes === undefined || this.size < this.codedFrom) this.offerAll(best, queryScale, filter);
    else this.offerLikely(this.codes, best, queryScale, filter);
    return best.list.map(({ score, item }) => ({ ...item, score }));
  }

  /** The cosines of a query with the vectors in these slots. */
  cosines(query: Float32Array, slots: readonly number[]): Float64Array {
    const queryScale = this.quantized(query);
    this.block.setQuery(this.queryRow);
    const products = this.block.dotsAt(slots);
    return Float64Array.from(slots, (slot, at) => products[at]! * this.scales[slot]! * queryScale);
  }

  /** Whether there are enough vectors for codes, and none were created yet. */
  get wantsCodes(): boolean {
    return this.canCode && this.codes === undefined && this.size >= this.codedFrom;
  }

  /** Creates codes, in steps: searches and changes run in between. Only one such generator may be running. */
  *makeCodes(): Generator<void, void> {
    const empty = createVectorCodes(yield* learnCodes(this.sample(), this.dimensions));
    this.canCode = empty !== undefined;
    if (empty === undefined) return;
    const coding = { codes: empty, codedTo: 0 };
    this.coding = coding;
    for (; coding.codedTo < this.slots; coding.codedTo++) {
      if (coding.codedTo % CODE_STEP === 0) yield;
      coding.codes.put(coding.codedTo, this.block.row(coding.codedTo), this.scales[coding.codedTo]!);
    }
    this.codes = coding.codes;
    this.coding = undefined;
  }

  /** The vectors of these ids, in order, for `prepareVectorStore`. */
  contents(wanted: StringTable): VectorContents {
    const { size } = wanted;
    const { dimensions } = this;
    const stride = strideOf(dimensions);
    const rows = new Int8Array(size * stride);
    const scales = new Float32Array(size).fill(MISSING);
    const slots = new Int32Array(size);
    for (let at = 0; at < size; at++) {
      const slot = this.ids.slotOf(wanted.get(at));
      slots[at] = slot ?? -1;
      if (slot === undefined) continue;
      rows.set(this.block.row(slot), at * stride);
      scales[at] = this.scales[slot]!;
    }
    const codes = this.codes?.copyOf(slots, this.slots);
    return { dimensions, scales, rows, ...(codes && { codes }) };
  }

  private quantized(vector: Float32Array): number {
    if (vector.length !== this.dimensions) {
      throw refused(`a vector of ${this.dimensions} dimensions was expected, not of ${vector.length}`);
    }
    const scale = quantize(vector, this.queryRow);
    if (scale === undefined) throw refused("a component of the vector is not a finite number");
    return scale;
  }

  private claimSlot(id: string): number {
    const slot = this.ids.claim(id);
    const { length } = this.scales;
    reserve(this.block, slot + 1);
    if (slot >= length) this.scales = lengthened(this.scales, Math.max(64, slot + 1, length * 2));
    return slot;
  }

  private offerAll(best: TopHits<VectorSlot>, queryScale: number, filter?: SlotFilter): void {
    const { ids, block, scales } = this;
    let { threshold } = best;
    for (let first = 0; first < ids.slots; first += CHUNK_ROWS) {
      const count = Math.min(CHUNK_ROWS, ids.slots - first);
      if (filter !== undefined && !allowsAny(filter, first, count)) continue;
      const products = block.dots(first, count);
      for (let index = 0; index < count; index++) {
        const slot = first + index;
        const score = products[index]! * scales[slot]! * queryScale;
        if (score < threshold || !ids.has(slot) || (filter !== undefined && !hasBit(filter, slot))) continue;
        best.offer(score, { slot, id: ids.idOf(slot)! });
        ({ threshold } = best);
      }
    }
  }

  private offerLikely(
    codes: VectorCodes,
    best: TopHits<VectorSlot>,
    queryScale: number,
    filter?: SlotFilter,
  ): void {
    const { ids, scales } = this;
    const passes = (slot: number) => ids.has(slot) && (filter === undefined || hasBit(filter, slot));
    const slots = codes.candidates(this.queryRow, ids.slots, CANDIDATES, passes);
    this.block.dotsAt(slots).forEach((product, at) => {
      const slot = slots[at]!;
      const score = product * scales[slot]! * queryScale;
      if (score >= best.threshold) best.offer(score, { slot, id: ids.idOf(slot)! });
    });
  }

  /** Vectors from all parts of the store, so that the codebook suits them all. */
  private sample(): { row: Int8Array; scale: number }[] {
    const step = Math.max(1, Math.floor(this.slots / SAMPLE));
    const rows = [];
    for (let slot = 0; slot < this.slots; slot += step) {
      if (this.ids.has(slot)) rows.push({ row: this.block.row(slot).slice(), scale: this.scales[slot]! });
    }
    return rows;
  }
}

function createBlock(dimensions: number, options: VectorStoreOptions): DotBlock {
  const stride = strideOf(dimensions);
  const kernel = options.engine === "plain" ? undefined : createKernelBlock(stride);
  return kernel ?? createPlainBlock(stride);
}

function reserve(block: DotBlock, rows: number): void {
  try {
    block.reserve(rows);
  } catch {
    throw problem("LIMIT_EXCEEDED", {
      what: "The number of vectors",
      actual: rows,
      limit: "what fits into memory (4 GiB at most)",
    });
  }
}

/** `first` is a multiple of the chunk, so the chunk's bits fill whole elements. */
function allowsAny(filter: SlotFilter, first: number, count: number): boolean {
  return filter.subarray(first / 32, Math.ceil((first + count) / 32)).some((word) => word !== 0);
}

function checkDimensions(dimensions: number): void {
  if (Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= MAXIMUM_DIMENSIONS) return;
  throw refused(`a vector has 1 to ${MAXIMUM_DIMENSIONS} dimensions, not ${dimensions}`);
}

function refused(reason: string): Problem {
  return problem("INVALID_INPUT", { operation: "the vector store", reason });
}
