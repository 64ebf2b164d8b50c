import { problem } from "../../base/problems/problem.ts";
import { createRedact } from "../../base/safety/redact.ts";
import type { Json } from "../../base/util/json.ts";
import type { OpenStorage, StorageOptions } from "../../base/util/storage.ts";
import { mintHandle } from "../sessions/mint-handle.ts";
import { openMemoryStorage } from "./memory-storage.ts";

/** Stores results that are too large to show, each for its principal. */
export interface ResultStore {
  /** Stores a value under a handle that the caller minted. A stored handle is renewed. */
  put(handle: string, value: Json, principalId: string): Promise<void>;
  /** Unknown, expired and foreign handles fail in the same way. */
  get(handle: string, principalId: string): Promise<Json>;
  has(handle: string, principalId: string): Promise<boolean>;
}

export const RESULT_SCHEME = "result://";

export function mintResultHandle(): string {
  return mintHandle(RESULT_SCHEME);
}

/** How long a result is kept. */
export const RESULT_MS = 30 * 60_000;
const MIB = 1024 * 1024;
const DEFAULTS: StorageOptions<Json> = {
  all: { entries: 1_000, size: 512 * MIB },
  perOwner: { entries: 500, size: 256 * MIB },
  ttlMs: RESULT_MS,
  // Memory stores values unchanged; other drivers must not write secrets.
  toText: (value) => JSON.stringify(createRedact([], { kinds: true })(value)),
};

/** Stores results, by default in memory. A principal over its limit loses its own oldest results. */
export function createResultStore(open: OpenStorage = openMemoryStorage, options = DEFAULTS): ResultStore {
  const results = open("result", options);
  return {
    put: async (handle, value, principalId) => {
      await results.put(handle, principalId, value);
    },
    get: async (handle, principalId) => {
      const value = await results.get(handle, principalId);
      if (value === undefined) throw problem("UNKNOWN_HANDLE", { handle });
      return value;
    },
    has: (handle, principalId) => results.has(handle, principalId),
  };
}
