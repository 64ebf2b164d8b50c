import { problem } from "../schema/problem.ts";
import { createFairCache } from "../util/fair-cache.ts";
import { heapBytes } from "../util/heap-bytes.ts";
import type { Json } from "../util/json.ts";
import { mintHandle } from "./mint-handle.ts";

/** Keeps results that are too large to show, each for its principal. */
export interface ResultStore {
  /** Keeps a value and returns its handle. The same object may get the same handle again. */
  put(value: Json, chars: number, principalId: string): string;
  /** Unknown, expired and foreign handles are refused alike. */
  get(handle: string, principalId: string): Json;
  has(handle: string, principalId: string): boolean;
}

export const RESULT_SCHEME = "result://";
const MIB = 1024 * 1024;
const IDLE_MS = 30 * 60_000;

/** Keeps results in memory. A principal over its bound loses its own oldest results. */
export function createResultStore(): ResultStore {
  const results = createFairCache<Json>({
    all: { entries: 1_000, size: 512 * MIB },
    perOwner: { entries: 500, size: 256 * MIB },
    ttlMs: IDLE_MS,
  });
  const handles = new WeakMap<object, string>();
  return {
    put: (value, _, principalId) => {
      const isObject = typeof value === "object" && value !== null;
      const known = isObject ? handles.get(value) : undefined;
      if (known !== undefined && results.renew(known, principalId) === value) return known;
      const handle = mintHandle(RESULT_SCHEME);
      results.set(handle, principalId, value, heapBytes(value));
      if (isObject) handles.set(value, handle);
      return handle;
    },
    get: (handle, principalId) => {
      const value = results.renew(handle, principalId);
      if (value === undefined) throw problem("UNKNOWN_HANDLE", { handle });
      return value;
    },
    has: (handle, principalId) => results.get(handle, principalId) !== undefined,
  };
}
