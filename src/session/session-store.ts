import type { PlanStore } from "./plan-store.ts";
import { bounded, type MemoryChange, type WorkingMemory } from "./working-memory.ts";

/** Keeps the memory of sessions, each for the principal that opened it. */
export interface SessionStore {
  /** Opens an empty session and returns its handle. */
  open(principalId: string): string;
  /** Unknown, expired and foreign handles are refused alike, here and below. */
  read(handle: string, principalId: string): WorkingMemory;
  /** Applies the change to the current memory, so that no other change is lost. */
  update(handle: string, principalId: string, change: MemoryChange): WorkingMemory;
  /** Forgets the session. */
  end(handle: string, principalId: string): void;
  /** Keeps the plans of scripts beside the sessions. Default: plans are kept in memory. */
  readonly plans?: PlanStore;
  /** Closes the file, if the store has one. */
  close(): void;
}

/** Options of {@link createSqliteSessionStore}. */
export interface SessionStoreOptions {
  /**
   * Beyond this many the least recently used sessions are forgotten, first of the principal that has most. One
   * principal keeps at most half of them. Default: 10,000.
   */
  readonly maxSessions?: number;
  /** Milliseconds without a call after which a session is forgotten. */
  readonly idleMs?: number;
  /** Called if the file was damaged and renamed, so that all its sessions are gone. */
  readonly onDamage?: (detail: string) => void;
}

export const SESSION_PREFIX = "ses_";
const SESSION_SCHEME = "session://";
/** The session of the call itself, for callers that do not know their handle. */
export const CURRENT_SESSION = `${SESSION_SCHEME}current`;

/** Whether an address names a session rather than an entry of a domain called `session`. */
export function isSessionAddress(address: string): boolean {
  return address === CURRENT_SESSION || address.startsWith(SESSION_SCHEME + SESSION_PREFIX);
}

export function handleOf(address: string): string {
  return address.slice(SESSION_SCHEME.length);
}
export const MAX_SESSIONS = 10_000;

export function mostOfOnePrincipal(maxSessions: number): number {
  return Math.ceil(maxSessions / 2);
}

/** One conversation, as its principal sees it. */
export interface Session {
  readonly handle: string;
  /** Its current memory. */
  readonly memory: WorkingMemory;
  update(change: MemoryChange): void;
  /** Forgets the session. */
  end(): void;
}

/** Whether the principal has that session. */
export function isKnown(store: SessionStore, handle: string, principalId: string): boolean {
  try {
    store.read(handle, principalId);
    return true;
  } catch {
    return false;
  }
}

/** Opens a session for callers in code. Brings their changes within bounds. */
export function toSession(store: SessionStore, handle: string, principalId: string): Session {
  store.read(handle, principalId);
  return {
    handle,
    get memory() {
      return store.read(handle, principalId);
    },
    update: (change) => void store.update(handle, principalId, (memory) => bounded(change(memory))),
    end: () => store.end(handle, principalId),
  };
}

/**
 * Opens a session for the gateway's own calls. It never fails a call, since a tool may have had its effect by then;
 * `onFailed` hears of changes that were lost. The changes keep to the bounds themselves.
 */
export function toLenientSession(
  store: SessionStore,
  handle: string,
  principalId: string,
  onFailed: (error: unknown) => void,
): Session {
  let last = store.read(handle, principalId);
  const attempt = (call: () => WorkingMemory) => {
    try {
      last = call();
    } catch (error) {
      onFailed(error);
    }
    return last;
  };
  return {
    handle,
    get memory() {
      return attempt(() => store.read(handle, principalId));
    },
    update: (change) => void attempt(() => store.update(handle, principalId, change)),
    end: () => store.end(handle, principalId),
  };
}
