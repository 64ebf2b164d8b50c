import { LRUCache } from "lru-cache";
import { openVectorFile, type VectorFile } from "./vector-file.ts";

/** Keeps vectors by key. It may forget, and it never fails: what it cannot keep is a miss. */
export interface VectorCache {
  get(key: string): Float32Array | undefined;
  put(vectors: ReadonlyMap<string, Float32Array>): void;
  close(): void;
}

/** Options of {@link createCachedEmbedder}. */
export interface VectorCacheOptions {
  /** A file that keeps the vectors between runs. A damaged one is set aside as `<path>.damaged`. */
  readonly path?: string;
  /** Default 10,000. */
  readonly maximumInMemory?: number;
  /** Default 1,000,000; the oldest go first. */
  readonly maximumInFile?: number;
}

const MAXIMUM_IN_MEMORY = 10_000;
const MAXIMUM_IN_FILE = 1_000_000;

/** The latest vectors in memory and, if there is a path, all of them in a file. */
export function createVectorCache(options: VectorCacheOptions = {}): VectorCache {
  const memory = new LRUCache<string, Float32Array>({ max: options.maximumInMemory ?? MAXIMUM_IN_MEMORY });
  const file: VectorFile | undefined =
    options.path === undefined
      ? undefined
      : openVectorFile(options.path, options.maximumInFile ?? MAXIMUM_IN_FILE);

  return {
    get(key) {
      const known = memory.get(key);
      if (known !== undefined) return known;
      const stored = file?.get(key);
      if (stored !== undefined) memory.set(key, stored);
      return stored;
    },
    put(vectors) {
      for (const [key, vector] of vectors) memory.set(key, vector);
      file?.put(vectors);
    },
    close: () => file?.close(),
  };
}
