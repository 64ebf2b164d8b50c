/** A memory of WebAssembly. It can grow and never shrinks. */
export interface EngineMemory {
  readonly buffer: ArrayBuffer;
}

/** The whole content of a memory at one moment. */
export interface MemoryImage {
  /** Makes every byte of the memory what it was. False if the memory has grown, which cannot be undone. */
  restore(): boolean;
}

const BLOCK_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(BLOCK_BYTES);

/** Compares before it copies: most blocks were never touched, and writing to those would claim memory for them. */
export function takeMemoryImage(memory: EngineMemory): MemoryImage {
  const { buffer } = memory;
  const blocks = blocksOf(buffer).map((block) => (block.equals(EMPTY) ? EMPTY : Buffer.from(block)));
  return {
    restore: () => {
      if (memory.buffer !== buffer) return false;
      for (const [at, block] of blocksOf(buffer).entries())
        if (!block.equals(blocks[at]!)) block.set(blocks[at]!);
      return true;
    },
  };
}

/** The size of a memory is a multiple of the size of a block. */
function blocksOf(buffer: ArrayBuffer): Buffer[] {
  return Array.from({ length: buffer.byteLength / BLOCK_BYTES }, (_, at) =>
    Buffer.from(buffer, at * BLOCK_BYTES, BLOCK_BYTES),
  );
}
