import { BLOCK_SLOTS, blockBytes, type CodeBlock, codeBytes, writeCodes } from "./code-block.ts";
import { CENTRES } from "./codebook.ts";
import { grownCapacity } from "./dot-block.ts";

/** The codes in plain JavaScript, for hosts without WebAssembly SIMD: same sums, slower. */
export function createPlainCodes(parts: number): CodeBlock {
  const tables = new Uint8Array(parts * CENTRES);
  let bytes = new Uint8Array(0);
  let capacity = 0;

  function sumOf(start: number): number {
    let sum = 0;
    for (let part = 0, at = start; part < parts; part += 2, at += BLOCK_SLOTS) {
      const pair = bytes[at]!;
      sum += tables[part * CENTRES + (pair & 15)]! + tables[(part + 1) * CENTRES + (pair >> 4)]!;
    }
    return sum;
  }

  return {
    reserve(slots) {
      if (slots <= capacity) return;
      capacity = grownCapacity(capacity, slots, Number.MAX_SAFE_INTEGER);
      const grown = new Uint8Array(codeBytes(capacity, parts));
      grown.set(bytes);
      bytes = grown;
    },
    put: (slot, codes) => writeCodes(bytes, slot, codes),
    bytes: (slots) => bytes.subarray(0, codeBytes(slots, parts)),
    setTables: (next) => tables.set(next),
    scan(first, blocks, least, visit) {
      for (let block = first; block < first + blocks; block++) {
        for (let lane = 0; lane < BLOCK_SLOTS; lane++) {
          const sum = sumOf(block * blockBytes(parts) + lane);
          if (sum > least) visit(block * BLOCK_SLOTS + lane, sum);
        }
      }
    },
  };
}
