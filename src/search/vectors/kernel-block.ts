import { CHUNK_ROWS, type DotBlock, grownCapacity } from "./dot-block.ts";
import { PAGE_BYTES, startKernel } from "./kernel.ts";

const MAXIMUM_BYTES = 2 ** 32;
/** Query and rows start at multiples of a cache line. */
const LINE = 64;

/** The block in the linear memory of the SIMD kernel, or nothing where the host cannot run it. */
export function createKernelBlock(stride: number): DotBlock | undefined {
  const queryBytes = stride * Int16Array.BYTES_PER_ELEMENT;
  const outStart = Math.ceil(queryBytes / LINE) * LINE;
  const listStart = outStart + CHUNK_ROWS * Int32Array.BYTES_PER_ELEMENT;
  const rowStart = listStart + CHUNK_ROWS * Uint32Array.BYTES_PER_ELEMENT;
  const limit = Math.floor((MAXIMUM_BYTES - rowStart) / stride);
  const kernel = startKernel(rowStart);
  if (kernel === undefined) return undefined;
  const { memory } = kernel;
  let capacity = 0;

  const products = (): Int32Array => new Int32Array(memory.buffer, outStart, CHUNK_ROWS);

  return {
    reserve(rows) {
      if (rows <= capacity) return;
      const grown = grownCapacity(capacity, rows, limit);
      const missing = rowStart + grown * stride - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
      capacity = grown;
    },
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
