import { grownCapacity, startKernel } from "./kernel.ts";

/** A growing block of int8 rows, and the integer dot products of one query with them. */
export interface DotBlock {
  /** Whether it works without the SIMD kernel. */
  readonly isPlain: boolean;
  /** Reserves memory for this many rows; existing ones stay. */
  reserve(rows: number): void;
  /** The bytes of a row, to read or write. `reserve` invalidates the view. */
  row(slot: number): Int8Array;
  /** All rows before `end`, one after another. `reserve` invalidates the view. */
  rows(end: number): Int8Array;
  setQuery(query: Int8Array): void;
  /** Products of the rows from `first`, at most `CHUNK_ROWS`. The next call overwrites the result. */
  dots(first: number, count: number): Int32Array;
  /** Products of the rows in these slots, in order. */
  dotsAt(slots: ArrayLike<number>): Int32Array;
}

/** Rows per call: the products of a chunk stay in the nearest cache. */
export const CHUNK_ROWS = 512;

/** More than any model has; products of this many bytes are far from overflowing an int32. */
export const MAXIMUM_DIMENSIONS = 16_384;

const STEP = 32;

/** Bytes of a row: the dimensions, padded with zeroes to the step of the kernel. */
export function strideOf(dimensions: number): number {
  return Math.ceil(dimensions / STEP) * STEP;
}

/** Query and rows start at multiples of a cache line. */
const LINE = 64;

/** The block in the memory of the SIMD kernel. Undefined if the host cannot run it. */
export function createKernelBlock(stride: number): DotBlock | undefined {
  const queryBytes = stride * Int16Array.BYTES_PER_ELEMENT;
  const outStart = Math.ceil(queryBytes / LINE) * LINE;
  const listStart = outStart + CHUNK_ROWS * Int32Array.BYTES_PER_ELEMENT;
  const rowStart = listStart + CHUNK_ROWS * Uint32Array.BYTES_PER_ELEMENT;
  const kernel = startKernel(rowStart, stride);
  if (kernel === undefined) return undefined;
  const { memory } = kernel;
  const products = (): Int32Array => new Int32Array(memory.buffer, outStart, CHUNK_ROWS);

  return {
    isPlain: false,
    reserve: kernel.reserve,
    row: (slot) => new Int8Array(memory.buffer, rowStart + slot * stride, stride),
    rows: (end) => new Int8Array(memory.buffer, rowStart, end * stride),
    setQuery: (query) => new Int16Array(memory.buffer, 0, stride).set(query),
    dots(first, count) {
      if (count > 0) kernel.dots(rowStart + first * stride, count, stride, 0, outStart);
      return products();
    },
    dotsAt(slots) {
      const all = new Int32Array(slots.length);
      const list = new Uint32Array(memory.buffer, listStart, CHUNK_ROWS);
      for (let from = 0; from < slots.length; from += CHUNK_ROWS) {
        const count = Math.min(CHUNK_ROWS, slots.length - from);
        for (let at = 0; at < count; at++) list[at] = rowStart + slots[from + at]! * stride;
        kernel.dotsAt(listStart, count, stride, 0, outStart);
        all.set(products().subarray(0, count), from);
      }
      return all;
    },
  };
}

/** The block in plain JavaScript, for hosts without WebAssembly SIMD: same products, slower. */
export function createPlainBlock(stride: number): DotBlock {
  const query = new Int8Array(stride);
  const products = new Int32Array(CHUNK_ROWS);
  let bytes = new Int8Array(0);

  function dot(slot: number): number {
    let sum = 0;
    for (let index = 0, at = slot * stride; index < stride; index++) sum += bytes[at++]! * query[index]!;
    return sum;
  }

  return {
    isPlain: true,
    reserve(rows) {
      if (rows * stride <= bytes.length) return;
      const grown = new Int8Array(grownCapacity(bytes.length / stride, rows) * stride);
      grown.set(bytes);
      bytes = grown;
    },
    row: (slot) => bytes.subarray(slot * stride, (slot + 1) * stride),
    rows: (end) => bytes.subarray(0, end * stride),
    setQuery: (next) => query.set(next),
    dots(first, count) {
      for (let row = 0; row < count; row++) products[row] = dot(first + row);
      return products;
    },
    dotsAt: (slots) => Int32Array.from(slots, dot),
  };
}

/** The largest int8 with a negative of the same size. */
const LARGEST = 127;

/**
 * Writes the vector as int8 into `target` and returns the scale that makes the dot product of two such rows their
 * cosine. Returns 0 for all zeroes, undefined if a component is NaN.
 */
export function quantize(vector: Float32Array, target: Int8Array): number | undefined {
  let largest = 0;
  for (const component of vector) {
    const size = Math.abs(component);
    if (!Number.isFinite(size)) return undefined;
    if (size > largest) largest = size;
  }
  target.fill(0);
  if (largest === 0) return 0;
  let squares = 0;
  for (let index = 0; index < vector.length; index++) {
    const level = Math.round((vector[index]! / largest) * LARGEST);
    target[index] = level;
    squares += level * level;
  }
  return Math.fround(1 / Math.sqrt(squares));
}
