/** A growing block of int8 rows, and the integer dot products of one query with them. */
export interface DotBlock {
  /** Makes room for that many rows; what is there stays. */
  reserve(rows: number): void;
  /** The row's bytes, to read or to write; the view does not survive `reserve`. */
  row(slot: number): Int8Array;
  /** All rows before `end`, one after another; the view does not survive `reserve`. */
  rows(end: number): Int8Array;
  setQuery(query: Int8Array): void;
  /** Products of the rows from `first`, at most `CHUNK_ROWS`; the next call overwrites the answer. */
  dots(first: number, count: number): Int32Array;
  /** Products of the rows of these slots, in their order. */
  dotsAt(slots: ArrayLike<number>): Int32Array;
}

/** Rows per call: the products of a chunk stay in the nearest cache. */
export const CHUNK_ROWS = 512;

/** More than any model has; products of this many bytes are far from overflowing an int32. */
export const MAXIMUM_DIMENSIONS = 16_384;

const STEP = 32;
const FIRST_CAPACITY = 64;

/** Bytes of a row: the dimensions, filled up with zeroes to the step of the kernel. */
export function strideOf(dimensions: number): number {
  return Math.ceil(dimensions / STEP) * STEP;
}

/** The capacity after growing by doubling until `rows` fit, at most `limit`. */
export function grownCapacity(capacity: number, rows: number, limit: number): number {
  let grown = Math.max(capacity, FIRST_CAPACITY);
  while (grown < rows) grown *= 2;
  return Math.min(grown, Math.max(rows, limit));
}
