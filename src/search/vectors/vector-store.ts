import { type Problem, problem } from "../../schema/problem.ts";
import { CHUNK_ROWS, type DotBlock, MAXIMUM_DIMENSIONS, strideOf } from "./dot-block.ts";
import { createKernelBlock } from "./kernel-block.ts";
import { createPlainBlock } from "./plain-block.ts";
import { quantize } from "./quantize.ts";
import { createTopHits, type VectorHit } from "./top-hits.ts";
import { decodeVectors, encodeVectors } from "./vector-snapshot.ts";

/** One bit a slot, lowest bit first: a set bit may be found, a missing one may not. */
export type SlotFilter = Uint8Array | Uint32Array;

/** Vectors as int8 rows, searched exactly. A slot is a vector's number, stable until it is removed. */
export interface VectorStore {
  readonly dimensions: number;
  readonly size: number;
  /** One more than the highest slot in use: the bits that a filter needs. */
  readonly slots: number;
  /** Adds the vector, or replaces the one of that id in its slot. Answers the slot. */
  put(id: string, vector: Float32Array): number;
  /** False if there is no such vector. The slot is used again. */
  remove(id: string): boolean;
  slotOf(id: string): number | undefined;
  idOf(slot: number): string | undefined;
  /** The best `limit` by cosine, ties by id. A query of all zeroes finds nothing. */
  search(query: Float32Array, limit: number, filter?: SlotFilter): VectorHit[];
  /** The cosines of a query with the vectors in these slots. */
  cosines(query: Float32Array, slots: readonly number[]): Float64Array;
  /** For `vectorStoreFromBytes`; slots are kept. */
  toBytes(): Uint8Array;
}

export interface VectorStoreOptions {
  /** `plain` does without WebAssembly; by default the kernel is used where it runs. */
  readonly engine?: "kernel" | "plain";
}

/** An empty store for vectors of that many components. */
export function createVectorStore(dimensions: number, options: VectorStoreOptions = {}): VectorStore {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > MAXIMUM_DIMENSIONS) {
    throw refused(`a vector has 1 to ${MAXIMUM_DIMENSIONS} dimensions, not ${dimensions}`);
  }
  return openStore(dimensions, [], new Float32Array(0), createBlock(dimensions, options));
}

/** The store that `toBytes` saved. Raises a problem if the bytes are damaged or of another version. */
export function vectorStoreFromBytes(bytes: Uint8Array, options: VectorStoreOptions = {}): VectorStore {
  const { dimensions, ids, scales, rows } = decodeVectors(bytes);
  const block = createBlock(dimensions, options);
  reserve(block, ids.length);
  block.rows(ids.length).set(rows);
  return openStore(dimensions, ids, scales, block);
}

function openStore(
  dimensions: number,
  ids: (string | undefined)[],
  initialScales: Float32Array,
  block: DotBlock,
): VectorStore {
  const queryRow = new Int8Array(strideOf(dimensions));
  const slotById = new Map<string, number>();
  const free: number[] = [];
  let scales = initialScales;
  for (const [slot, id] of ids.entries()) {
    if (id === undefined) free.push(slot);
    else slotById.set(id, slot);
  }

  function quantized(vector: Float32Array): number {
    if (vector.length !== dimensions) {
      throw refused(`a vector of ${dimensions} dimensions was expected, not of ${vector.length}`);
    }
    const scale = quantize(vector, queryRow);
    if (scale === undefined) throw refused("a component of the vector is not a finite number");
    return scale;
  }

  function claimSlot(): number {
    const slot = free.pop() ?? ids.length;
    reserve(block, slot + 1);
    if (slot >= scales.length) {
      const grown = new Float32Array(Math.max(64, scales.length * 2));
      grown.set(scales);
      scales = grown;
    }
    return slot;
  }

  return {
    dimensions,
    get size() {
      return slotById.size;
    },
    get slots() {
      return ids.length;
    },
    slotOf: (id) => slotById.get(id),
    idOf: (slot) => ids[slot],
    put(id, vector) {
      const scale = quantized(vector);
      const slot = slotById.get(id) ?? claimSlot();
      block.row(slot).set(queryRow);
      scales[slot] = scale;
      ids[slot] = id;
      slotById.set(id, slot);
      return slot;
    },
    remove(id) {
      const slot = slotById.get(id);
      if (slot === undefined) return false;
      slotById.delete(id);
      ids[slot] = undefined;
      scales[slot] = 0;
      block.row(slot).fill(0);
      free.push(slot);
      return true;
    },
    search(query, limit, filter) {
      const queryScale = quantized(query);
      if (queryScale === 0 || !(limit >= 1)) return [];
      const best = createTopHits(Math.min(limit, slotById.size));
      block.setQuery(queryRow);
      let threshold = best.threshold();
      for (let first = 0; first < ids.length; first += CHUNK_ROWS) {
        const count = Math.min(CHUNK_ROWS, ids.length - first);
        if (filter !== undefined && !allowsAny(filter, first, count)) continue;
        const products = block.dots(first, count);
        for (let index = 0; index < count; index++) {
          const slot = first + index;
          const score = products[index]! * scales[slot]! * queryScale;
          if (score < threshold) continue;
          const id = ids[slot];
          if (id === undefined || (filter !== undefined && !allows(filter, slot))) continue;
          best.offer({ slot, id, score });
          threshold = best.threshold();
        }
      }
      return best.take();
    },
    cosines(query, slots) {
      const queryScale = quantized(query);
      block.setQuery(queryRow);
      return Float64Array.from(slots, (slot) => block.dots(slot, 1)[0]! * scales[slot]! * queryScale);
    },
    toBytes: () =>
      encodeVectors({
        dimensions,
        ids,
        scales: scales.subarray(0, ids.length),
        rows: block.rows(ids.length),
      }),
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

function allows(filter: SlotFilter, slot: number): boolean {
  const bits = filter.BYTES_PER_ELEMENT * 8;
  return (((filter[Math.floor(slot / bits)] ?? 0) >>> (slot % bits)) & 1) === 1;
}

/** `first` is a multiple of the chunk, so the chunk's bits fill whole elements. */
function allowsAny(filter: SlotFilter, first: number, count: number): boolean {
  const bits = filter.BYTES_PER_ELEMENT * 8;
  const end = Math.min(filter.length, Math.ceil((first + count) / bits));
  for (let index = first / bits; index < end; index++) {
    if (filter[index] !== 0) return true;
  }
  return false;
}

function refused(reason: string): Problem {
  return problem("INVALID_INPUT", { operation: "the vector store", reason });
}
