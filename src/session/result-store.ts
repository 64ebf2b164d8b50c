import { LRUCache } from "lru-cache";
import { problem } from "../schema/problem.ts";
import type { Json } from "../util/json.ts";
import { mintHandle } from "./mint-handle.ts";

/** Keeps results that are too large to show, each for its principal. */
export interface ResultStore {
  put(value: Json, chars: number, principalId: string): string;
  /** Unknown, expired and foreign handles are refused alike. */
  get(handle: string, principalId: string): Json;
  has(handle: string, principalId: string): boolean;
}

export const RESULT_SCHEME = "result://";
const MAX_RESULTS = 1_000;
const MAX_CHARS = 512 * 1024 * 1024;
const IDLE_MS = 30 * 60_000;

export function createResultStore(): ResultStore {
  const results = new LRUCache<string, { readonly value: Json; readonly principalId: string }>({
    max: MAX_RESULTS,
    maxSize: MAX_CHARS,
    ttl: IDLE_MS,
    updateAgeOnGet: true,
  });
  return {
    put: (value, chars, principalId) => {
      const handle = mintHandle(RESULT_SCHEME);
      results.set(handle, { value, principalId }, { size: Math.max(1, chars) });
      return handle;
    },
    get: (handle, principalId) => {
      const stored = results.get(handle);
      if (!stored || stored.principalId !== principalId) throw problem("UNKNOWN_HANDLE", { handle });
      return stored.value;
    },
    has: (handle, principalId) => results.peek(handle)?.principalId === principalId,
  };
}
