import { CENTRES } from "./codebook.ts";
import { startKernel } from "./kernel.ts";

/** Vectors that are scored together: one for each byte of a SIMD register. */
export const BLOCK_SLOTS = 16;
/** Most blocks of one `scan`: 8,192 vectors. */
export const SCAN_BLOCKS = 512;

/** Bytes for this many vectors with this many codes each: whole blocks of two codes a byte. */
export function codeBytes(slots: number, parts: number): number {
  return Math.ceil(slots / BLOCK_SLOTS) * blockBytes(parts);
}

function blockBytes(parts: number): number {
  return (BLOCK_SLOTS * parts) / 2;
}

/**
 * Position of a vector's first byte: one byte for two codes, with the bytes of a block's vectors next to each other.
 */
function placeOf(slot: number, parts: number): number {
  return Math.floor(slot / BLOCK_SLOTS) * blockBytes(parts) + (slot % BLOCK_SLOTS);
}

/** Copies the codes of one vector from one block to another with as many parts. */
export function copyCodes(
  from: Uint8Array,
  slot: number,
  to: Uint8Array,
  newSlot: number,
  parts: number,
): void {
  const source = placeOf(slot, parts);
  const target = placeOf(newSlot, parts);
  for (let at = 0; at < blockBytes(parts); at += BLOCK_SLOTS) to[target + at] = from[source + at]!;
}

const LINE = 64;
/** The sums of a block, 16 bits each, and its number. */
const FOUND_BYTES = BLOCK_SLOTS * 2 + 4;
/** The address where the kernel stores its end position. */
const END = 0;

export type CodeBlock = NonNullable<ReturnType<typeof createCodeBlock>>;

/**
 * A growing block of 4-bit codes in the memory of the SIMD kernel, and the sums of the table entries they select.
 * Undefined if the host cannot run the kernel.
 */
export function createCodeBlock(parts: number) {
  const tableStart = LINE;
  const outStart = tableStart + parts * CENTRES;
  const codeStart = Math.ceil((outStart + SCAN_BLOCKS * FOUND_BYTES) / LINE) * LINE;
  const kernel = startKernel(codeStart, blockBytes(parts));
  if (kernel === undefined) return undefined;
  const { memory } = kernel;

  return {
    /** Reserves memory for this many vectors; existing ones stay. */
    reserve: (slots: number): void => kernel.reserve(Math.ceil(slots / BLOCK_SLOTS)),
    put(slot: number, codes: Uint8Array): void {
      const bytes = new Uint8Array(memory.buffer, codeStart + placeOf(slot, parts));
      for (let part = 0; part < parts; part += 2)
        bytes[(part / 2) * BLOCK_SLOTS] = codes[part]! | (codes[part + 1]! << 4);
    },
    /** The stored codes of the vectors before `slots`. `reserve` invalidates the view. */
    bytes: (slots: number): Uint8Array => new Uint8Array(memory.buffer, codeStart, codeBytes(slots, parts)),
    /** Sets tables of 16 entries, one for each code of a vector. */
    setTables: (tables: Uint8Array): void => new Uint8Array(memory.buffer, tableStart).set(tables),
    /** Visits the vectors of these blocks whose sum is above `least`, in order. */
    scan(first: number, blocks: number, least: number, visit: (slot: number, sum: number) => void): void {
      if (blocks <= 0) return;
      const codes = codeStart + first * blockBytes(parts);
      kernel.sums(codes, first, blocks, tableStart, outStart, least, outStart, END);
      const words = new Uint32Array(memory.buffer, 0, codeStart / 4);
      const sums = new Uint16Array(memory.buffer, 0, codeStart / 2);
      const end = words[END / 4]!;
      for (let found = outStart; found < end; found += FOUND_BYTES) {
        const start = words[(found + BLOCK_SLOTS * 2) / 4]! * BLOCK_SLOTS;
        for (let lane = 0, at = found / 2; lane < BLOCK_SLOTS; lane += 2, at++) {
          // The sums of even vectors come first, then those of odd ones.
          const even = sums[at]!;
          const odd = sums[at + BLOCK_SLOTS / 2]!;
          if (even > least) visit(start + lane, even);
          if (odd > least) visit(start + lane + 1, odd);
        }
      }
    },
  };
}
