import { problem } from "../schema/problem.ts";
import { createFairCache } from "../util/fair-cache.ts";
import { heapBytes } from "../util/heap-bytes.ts";
import { mintHandle } from "./mint-handle.ts";
import {
  MAX_SESSIONS,
  mostOfOnePrincipal,
  SESSION_PREFIX,
  type SessionStore,
  type SessionStoreOptions,
} from "./session-store.ts";
import { EMPTY_MEMORY, type WorkingMemory } from "./working-memory.ts";

const IDLE_MS = 30 * 60_000;
const MIB = 1024 * 1024;

/**
 * Creates a store that keeps sessions in memory. They are forgotten after half an hour without a call. See
 * {@link createSqliteSessionStore}.
 */
export function createMemorySessionStore(options: SessionStoreOptions = {}): SessionStore {
  const { maxSessions = MAX_SESSIONS, idleMs = IDLE_MS } = options;
  const sessions = createFairCache<WorkingMemory>({
    all: { entries: maxSessions, size: 256 * MIB },
    perOwner: { entries: mostOfOnePrincipal(maxSessions), size: 128 * MIB },
    ttlMs: idleMs,
  });
  const keep = (handle: string, principalId: string, memory: WorkingMemory) =>
    sessions.set(handle, principalId, memory, heapBytes(memory));
  function find(handle: string, principalId: string): WorkingMemory {
    // Only calls of its own principal keep a session alive.
    const memory = sessions.renew(handle, principalId);
    if (!memory) throw problem("UNKNOWN_HANDLE", { handle });
    return memory;
  }
  return {
    open: async (principalId) => {
      const handle = mintHandle(SESSION_PREFIX);
      keep(handle, principalId, EMPTY_MEMORY);
      return handle;
    },
    read: async (handle, principalId) => find(handle, principalId),
    update: async (handle, principalId, change) => {
      // No await: two changes must not start from the same memory.
      const memory = change(find(handle, principalId));
      keep(handle, principalId, memory);
      return memory;
    },
    end: async (handle, principalId) => {
      find(handle, principalId);
      sessions.delete(handle);
    },
    close: () => sessions.clear(),
  };
}
