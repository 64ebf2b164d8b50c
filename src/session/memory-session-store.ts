import { LRUCache } from "lru-cache";
import { problem } from "../schema/problem.ts";
import { lazy } from "../util/lazy.ts";
import { mintHandle } from "./mint-handle.ts";
import {
  MAX_SESSIONS,
  SESSION_PREFIX,
  type SessionStore,
  type SessionStoreOptions,
} from "./session-store.ts";
import { EMPTY_MEMORY, type WorkingMemory } from "./working-memory.ts";

interface Kept {
  readonly principalId: string;
  readonly memory: WorkingMemory;
}

const IDLE_MS = 30 * 60_000;

/**
 * Creates a store that keeps sessions in memory. They are forgotten after half an hour without a call. See
 * {@link createSqliteSessionStore}.
 */
export function createMemorySessionStore(options: SessionStoreOptions = {}): SessionStore {
  const sessions = lazy(
    () =>
      new LRUCache<string, Kept>({
        max: options.maxSessions ?? MAX_SESSIONS,
        ttl: options.idleMs ?? IDLE_MS,
        updateAgeOnGet: true,
      }),
  );
  function find(handle: string, principalId: string): Kept {
    // Only calls of its own principal keep a session alive.
    if (sessions().peek(handle)?.principalId !== principalId) throw problem("UNKNOWN_HANDLE", { handle });
    return sessions().get(handle)!;
  }
  return {
    open: (principalId) => {
      const handle = mintHandle(SESSION_PREFIX);
      sessions().set(handle, { principalId, memory: EMPTY_MEMORY });
      return handle;
    },
    read: (handle, principalId) => find(handle, principalId).memory,
    update: (handle, principalId, change) => {
      const memory = change(find(handle, principalId).memory);
      sessions().set(handle, { principalId, memory });
      return memory;
    },
    end: (handle, principalId) => {
      find(handle, principalId);
      sessions().delete(handle);
    },
    close: () => sessions().clear(),
  };
}
