import { CHUNK_ROWS, type DotBlock, grownCapacity } from "./dot-block.ts";

const MAXIMUM_BYTES = 2 ** 32;

/** The block in plain JavaScript, for hosts without WebAssembly SIMD: same products, slower. */
export function createPlainBlock(stride: number): DotBlock {
  const query = new Int8Array(stride);
  const products = new Int32Array(CHUNK_ROWS);
  const limit = Math.floor(MAXIMUM_BYTES / stride);
  let bytes = new Int8Array(0);

  function dot(slot: number): number {
    let sum = 0;
    for (let index = 0, at = slot * stride; index < stride; index++) sum += bytes[at++]! * query[index]!;
    return sum;
  }

  return {
    reserve(rows) {
      if (rows * stride <= bytes.length) return;
      const grown = new Int8Array(grownCapacity(bytes.length / stride, rows, limit) * stride);
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
