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

/** One bit a slot, lowest bit first: a set bit may be found, a missing one may not. */
type SlotFilter = Uint32Array;

interface VectorSlot {
  readonly slot: number;
  readonly id: string;
}

interface VectorHit extends VectorSlot {
  readonly score: number;
}

/** Vectors as int8 rows. A slot is a vector's number, stable until it is removed. */
export interface VectorStore {
  readonly size: number;
  /** One more than the highest slot in use: the bits that a filter needs. */
  readonly slots: number;
  /** Adds the vector, or replaces the one of that id in its slot. Answers the slot. */
  put(id: string, vector: Float32Array): number;
  /** False if there is no such vector. The slot is used again. */
  remove(id: string): boolean;
  slotOf(id: string): number | undefined;
  idOf(slot: number): string | undefined;
  /**
   * The best `limit` by cosine, ties by id. A query of all zeroes finds nothing. Every vector is compared, unless
   * there are codes: then those whose codes are the most like the query.
   */
  search(query: Float32Array, limit: number, filter?: SlotFilter): VectorHit[];
  /** The cosines of a query with the vectors in these slots. */
  cosines(query: Float32Array, slots: readonly number[]): Float64Array;
  /** Searches need codes, because there are many vectors, and none were made. */
  readonly wantsCodes: boolean;
  /** Makes codes, in steps: between them searches and changes go on. Only one such generator may be under way. */
  makeCodes(): Generator<void, void>;
  /** The vectors of these ids, in their order, for `prepareVectorStore`. */
  contents(ids: StringTable): VectorContents;
}

/** Saved vectors, one for each of a table of ids. */
export interface VectorContents {
  readonly dimensions: number;
  /** `MISSING` where an id has no vector. */
  readonly scales: Float32Array;
  readonly rows: Int8Array;
  readonly codes?: SavedCodes;
}

export interface VectorStoreOptions {
  /** `plain` does without WebAssembly; by default the kernel is used where it runs. */
  readonly engine?: "kernel" | "plain";
  /** From this many vectors on, searches use codes; with fewer they compare every vector. */
  readonly codedFrom?: number;
}

/** An exact scan of this many vectors takes about a millisecond. */
const CODED_FROM = 50_000;
/** Vectors that are compared exactly, of those that codes find. With a million, R@10 is above .99. */
const CANDIDATES = 4_096;
/** Vectors that a codebook is learned from: hundreds for each of its values. */
const SAMPLE = 8_192;
/** Vectors that get their codes between two turns of the event loop: a few milliseconds. */
const CODE_STEP = 1_024;
const MISSING = -1;

/** An empty store for vectors of that many components. */
export function createVectorStore(dimensions: number, options: VectorStoreOptions = {}): VectorStore {
  checkDimensions(dimensions);
  return openStore(dimensions, new SlotIds(), new Float32Array(0), createBlock(dimensions, options), options);
}

/** Room for saved rows, to read them straight to their place, and the store made of it. */
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
      return openStore(dimensions, slots, scales, block, options, codes);
    },
  };
}

function openStore(
  dimensions: number,
  ids: SlotIds,
  initialScales: Float32Array,
  block: DotBlock,
  options: VectorStoreOptions,
  savedCodes?: SavedCodes,
): VectorStore {
  const { codedFrom = CODED_FROM } = options;
  // Without the kernel every vector is compared.
  let canCode = !block.isPlain;
  const queryRow = new Int8Array(strideOf(dimensions));
  let scales = initialScales;
  let codes = savedCodes && canCode ? createVectorCodes(savedCodes) : undefined;
  /** Codes are being made, of the slots before `codedTo`. */
  let coding: { readonly codes: VectorCodes; codedTo: number } | undefined;

  function quantized(vector: Float32Array): number {
    if (vector.length !== dimensions) {
      throw refused(`a vector of ${dimensions} dimensions was expected, not of ${vector.length}`);
    }
    const scale = quantize(vector, queryRow);
    if (scale === undefined) throw refused("a component of the vector is not a finite number");
    return scale;
  }

  function claimSlot(id: string): number {
    const slot = ids.claim(id);
    reserve(block, slot + 1);
    if (slot >= scales.length) scales = lengthened(scales, Math.max(64, slot + 1, scales.length * 2));
    return slot;
  }

  function offerAll(best: TopHits<VectorSlot>, queryScale: number, filter?: SlotFilter): void {
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

  function offerLikely(
    found: VectorCodes,
    best: TopHits<VectorSlot>,
    queryScale: number,
    filter?: SlotFilter,
  ): void {
    const passes = (slot: number) => ids.has(slot) && (filter === undefined || hasBit(filter, slot));
    const slots = found.candidates(queryRow, ids.slots, CANDIDATES, passes);
    block.dotsAt(slots).forEach((product, at) => {
      const slot = slots[at]!;
      const score = product * scales[slot]! * queryScale;
      if (score >= best.threshold) best.offer(score, { slot, id: ids.idOf(slot)! });
    });
  }

  /** Vectors from all over the store, so that the codebook suits them all. */
  function sample(): { row: Int8Array; scale: number }[] {
    const step = Math.max(1, Math.floor(ids.slots / SAMPLE));
    const rows = [];
    for (let slot = 0; slot < ids.slots; slot += step) {
      if (ids.has(slot)) rows.push({ row: block.row(slot).slice(), scale: scales[slot]! });
    }
    return rows;
  }

  return {
    get size() {
      return ids.size;
    },
    get slots() {
      return ids.slots;
    },
    slotOf: (id) => ids.slotOf(id),
    idOf: (slot) => ids.idOf(slot),
    put(id, vector) {
      const scale = quantized(vector);
      const slot = ids.slotOf(id) ?? claimSlot(id);
      block.row(slot).set(queryRow);
      scales[slot] = scale;
      codes?.put(slot, queryRow, scale);
      if (coding !== undefined && slot < coding.codedTo) coding.codes.put(slot, queryRow, scale);
      return slot;
    },
    remove(id) {
      const slot = ids.release(id);
      if (slot === undefined) return false;
      scales[slot] = 0;
      block.row(slot).fill(0);
      return true;
    },
    search(query, limit, filter) {
      const queryScale = quantized(query);
      if (queryScale === 0 || !(limit >= 1)) return [];
      const best = new TopHits<VectorSlot>(Math.min(limit, ids.size), (one, other) => one.id < other.id);
      block.setQuery(queryRow);
      if (codes === undefined || ids.size < codedFrom) offerAll(best, queryScale, filter);
      else offerLikely(codes, best, queryScale, filter);
      return best.list.map(({ score, item }) => ({ ...item, score }));
    },
    cosines(query, slots) {
      const queryScale = quantized(query);
      block.setQuery(queryRow);
      const products = block.dotsAt(slots);
      return Float64Array.from(slots, (slot, at) => products[at]! * scales[slot]! * queryScale);
    },
    get wantsCodes() {
      return canCode && codes === undefined && ids.size >= codedFrom;
    },
    *makeCodes() {
      const empty = createVectorCodes(yield* learnCodes(sample(), dimensions));
      canCode = empty !== undefined;
      if (empty === undefined) return;
      coding = { codes: empty, codedTo: 0 };
      for (; coding.codedTo < ids.slots; coding.codedTo++) {
        if (coding.codedTo % CODE_STEP === 0) yield;
        coding.codes.put(coding.codedTo, block.row(coding.codedTo), scales[coding.codedTo]!);
      }
      ({ codes } = coding);
      coding = undefined;
    },
    contents(wanted) {
      const { size } = wanted;
      const stride = strideOf(dimensions);
      const rows = new Int8Array(size * stride);
      const own = new Float32Array(size).fill(MISSING);
      const slots = new Int32Array(size);
      for (let at = 0; at < size; at++) {
        const slot = ids.slotOf(wanted.get(at));
        slots[at] = slot ?? -1;
        if (slot === undefined) continue;
        rows.set(block.row(slot), at * stride);
        own[at] = scales[slot]!;
      }
      const saved = codes?.copyOf(slots, ids.slots);
      return { dimensions, scales: own, rows, ...(saved && { codes: saved }) };
    },
  };
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
