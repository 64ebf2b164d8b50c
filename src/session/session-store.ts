import type { PlanStore } from "./plan-store.ts";
import { bounded, type MemoryChange, type WorkingMemory } from "./working-memory.ts";

/** Keeps the memory of sessions, each for the principal that opened it. */
export interface SessionStore {
  /** Opens an empty session and resolves to its handle. */
  open(principalId: string): Promise<string>;
  /** Unknown, expired and foreign handles are refused alike, here and below. */
  read(handle: string, principalId: string): Promise<WorkingMemory>;
  /** Applies the change to the current memory, so that no other change is lost. It may be applied more than once. */
  update(handle: string, principalId: string, change: MemoryChange): Promise<WorkingMemory>;
  /** Forgets the session. */
  end(handle: string, principalId: string): Promise<void>;
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
  /** Its memory as last read or changed through this object. */
  readonly memory: WorkingMemory;
  update(change: MemoryChange): Promise<void>;
  /** Forgets the session. */
  end(): Promise<void>;
}

/** The session of one call. Changes count for the call at once; `save` writes them together. */
export interface CallSession {
  readonly handle: string;
  readonly memory: WorkingMemory;
  /** The change must keep to the bounds itself. */
  update(change: MemoryChange): void;
  /** Never rejects, since a tool may have had its effect by then. */
  save(): Promise<void>;
}

/** Whether the principal has that session. */
export function isKnown(store: SessionStore, handle: string, principalId: string): Promise<boolean> {
  return store.read(handle, principalId).then(
    () => true,
    () => false,
  );
}

/** Opens a session for callers in code. Brings their changes within bounds. */
export async function toSession(store: SessionStore, handle: string, principalId: string): Promise<Session> {
  let memory = await store.read(handle, principalId);
  return {
    handle,
    get memory() {
      return memory;
    },
    update: async (change) => {
      memory = await store.update(handle, principalId, (known) => bounded(change(known)));
    },
    end: () => store.end(handle, principalId),
  };
}

/** Opens the session of a call. `onFailed` hears of changes that could not be saved. */
export async function toCallSession(
  store: SessionStore,
  handle: string,
  principalId: string,
  onFailed: (error: unknown) => void,
): Promise<CallSession> {
  let memory = await store.read(handle, principalId);
  let changes: MemoryChange[] = [];
  return {
    handle,
    get memory() {
      return memory;
    },
    update: (change) => {
      memory = change(memory);
      changes.push(change);
    },
    save: async () => {
      const unsaved = changes;
      if (unsaved.length === 0) return;
      changes = [];
      try {
        await store.update(handle, principalId, (known) =>
          unsaved.reduce((now, change) => change(now), known),
        );
      } catch (error) {
        onFailed(error);
      }
    },
  };
}
