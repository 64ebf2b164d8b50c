import { BLOCK_SLOTS, blockBytes, type CodeBlock, codeBytes, SCAN_BLOCKS, writeCodes } from "./code-block.ts";
import { CENTRES } from "./codebook.ts";
import { grownCapacity } from "./dot-block.ts";
import { PAGE_BYTES, startKernel } from "./kernel.ts";

const MAXIMUM_BYTES = 2 ** 32;
const LINE = 64;
/** Sums of a block, 16 bits each, and its number. */
const FOUND_BYTES = BLOCK_SLOTS * 2 + 4;
/** The kernel stores here where it stopped writing. */
const END = 0;

/** The codes in the linear memory of the SIMD kernel, or nothing where the host cannot run it. */
export function createKernelCodes(parts: number): CodeBlock | undefined {
  const tableStart = LINE;
  const outStart = tableStart + parts * CENTRES;
  const codeStart = Math.ceil((outStart + SCAN_BLOCKS * FOUND_BYTES) / LINE) * LINE;
  const limit = Math.floor((MAXIMUM_BYTES - codeStart) / blockBytes(parts)) * BLOCK_SLOTS;
  const kernel = startKernel(codeStart);
  if (kernel === undefined) return undefined;
  const { memory } = kernel;
  let capacity = 0;

  return {
    reserve(slots) {
      if (slots <= capacity) return;
      const grown = grownCapacity(capacity, slots, limit);
      const missing = codeStart + codeBytes(grown, parts) - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
      capacity = grown;
    },
    put: (slot, codes) => writeCodes(new Uint8Array(memory.buffer, codeStart), slot, codes),
    bytes: (slots) => new Uint8Array(memory.buffer, codeStart, codeBytes(slots, parts)),
    setTables: (tables) => new Uint8Array(memory.buffer, tableStart).set(tables),
    scan(first, blocks, least, visit) {
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
