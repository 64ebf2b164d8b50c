import { problem } from "../schema/problem.ts";
import { createFairCache } from "../util/fair-cache.ts";
import { heapBytes } from "../util/heap-bytes.ts";
import type { Json } from "../util/json.ts";
import { mintHandle } from "./mint-handle.ts";

/** Keeps results that are too large to show, each for its principal. */
export interface ResultStore {
  /** Keeps a value under a handle that the caller minted. A handle that is kept already stays longer. */
  put(handle: string, value: Json, principalId: string): Promise<void>;
  /** Unknown, expired and foreign handles are refused alike. */
  get(handle: string, principalId: string): Promise<Json>;
  has(handle: string, principalId: string): Promise<boolean>;
}

export const RESULT_SCHEME = "result://";

export function mintResultHandle(): string {
  return mintHandle(RESULT_SCHEME);
}

const MIB = 1024 * 1024;
const IDLE_MS = 30 * 60_000;

/** Keeps results in memory. A principal over its bound loses its own oldest results. */
export function createResultStore(): ResultStore {
  const results = createFairCache<Json>({
    all: { entries: 1_000, size: 512 * MIB },
    perOwner: { entries: 500, size: 256 * MIB },
    ttlMs: IDLE_MS,
  });
  return {
    put: async (handle, value, principalId) => {
      if (results.renew(handle, principalId) === undefined) {
        results.set(handle, principalId, value, heapBytes(value));
      }
    },
    get: async (handle, principalId) => {
      const value = results.renew(handle, principalId);
      if (value === undefined) throw problem("UNKNOWN_HANDLE", { handle });
      return value;
    },
    has: async (handle, principalId) => results.get(handle, principalId) !== undefined,
  };
}
