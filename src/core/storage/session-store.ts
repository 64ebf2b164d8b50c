import { problem } from "../../base/problems/problem.ts";
import { type OpenStorage, UNBOUNDED } from "../../base/util/storage.ts";
import { mintHandle } from "../sessions/mint-handle.ts";
import { bounded, EMPTY_MEMORY, type MemoryChange, type WorkingMemory } from "../sessions/working-memory.ts";
import { fromStored, toStored } from "./memory-codec.ts";
import { openMemoryStorage } from "./memory-storage.ts";
import { createPlanStore, type PlanStore } from "./plan-store.ts";

/** Stores the memory of sessions, each for its principal. */
export interface SessionStore {
  /** Opens an empty session and resolves to its handle. */
  open(principalId: string): Promise<string>;
  /** Unknown, expired and foreign handles fail in the same way, here and below. */
  read(handle: string, principalId: string): Promise<WorkingMemory>;
  /** Applies the change to the current memory, possibly more than once. No other change is lost. */
  update(handle: string, principalId: string, change: MemoryChange): Promise<WorkingMemory>;
  /** Deletes the session. */
  end(handle: string, principalId: string): Promise<void>;
  /** Store for plans of scripts. Default: memory. */
  readonly plans?: PlanStore;
  /** Closes the file, if the store has one. */
  close(): void;
}

/** Options of {@link createSqliteSessionStore}. */
export interface SessionStoreOptions {
  /**
   * Sessions in the store. Beyond this, the least recently used are deleted, first of the principal that has most. One
   * principal keeps at most half. Default: 10,000.
   */
  readonly maxSessions?: number;
  /** Milliseconds without a call after which a session is deleted. */
  readonly idleMs?: number;
  /** Called if the file was damaged and renamed: all sessions are lost. */
  readonly onDamage?: (detail: string) => void;
}

const SESSION_PREFIX = "ses_";
const SESSION_SCHEME = "session://";
/** The session of the call itself, for callers without their handle. */
export const CURRENT_SESSION = `${SESSION_SCHEME}current`;

/** Whether an address is a session rather than an entry of a domain called `session`. */
export function isSessionAddress(address: string): boolean {
  return address === CURRENT_SESSION || address.startsWith(SESSION_SCHEME + SESSION_PREFIX);
}

export function handleOf(address: string): string {
  return address.slice(SESSION_SCHEME.length);
}

const DAY_MS = 24 * 60 * 60_000;
const MIB = 1024 * 1024;
const MAX_SESSIONS = 10_000;
const MEMORY_IDLE_MS = 30 * 60_000;
const DATABASE_IDLE_MS = 7 * DAY_MS;

/** Stores sessions with a driver for a week after the last call. Without a driver: in memory, for half an hour. */
export function createSessionStore(open?: OpenStorage, options: SessionStoreOptions = {}): SessionStore {
  const { maxSessions = MAX_SESSIONS, idleMs = open ? DATABASE_IDLE_MS : MEMORY_IDLE_MS } = options;
  // A database limits the number of sessions, and each session is limited.
  const sessions = (open ?? openMemoryStorage)<WorkingMemory>("session", {
    all: { entries: maxSessions, size: open ? UNBOUNDED.size : 256 * MIB },
    perOwner: { entries: Math.ceil(maxSessions / 2), size: open ? UNBOUNDED.size : 128 * MIB },
    ttlMs: idleMs,
    cached: 1_024,
    toText: toStored,
    fromText: fromStored,
  });
  const existing = (handle: string, memory: WorkingMemory | undefined): WorkingMemory => {
    if (!memory) throw problem("UNKNOWN_HANDLE", { handle });
    return memory;
  };
  return {
    open: async (principalId) => {
      const handle = mintHandle(SESSION_PREFIX);
      await sessions.put(handle, principalId, EMPTY_MEMORY);
      return handle;
    },
    read: async (handle, principalId) => existing(handle, await sessions.get(handle, principalId)),
    update: async (handle, principalId, change) =>
      existing(handle, await sessions.update(handle, principalId, change)),
    end: async (handle, principalId) => {
      let ended: WorkingMemory | undefined;
      await sessions.update(handle, principalId, (memory) => {
        ended = memory;
        return undefined;
      });
      existing(handle, ended);
    },
    close: () => {},
  };
}

/**
 * Opens a SQLite file for sessions and plans of scripts, which several processes may share. Sessions are deleted after
 * a week without a call, plans after a day. Loads the database on first use. See {@link GatewayOptions}.
 * @example
 * ```ts
 * import { createGateway, createSqliteSessionStore } from "keyhole";
 *
 * const sessions = await createSqliteSessionStore("sessions.db");
 * const gateway = createGateway({ domains: [], sessions });
 * console.log(await gateway.openSession());
 * await gateway.close();
 * sessions.close();
 * ```
 */
export async function createSqliteSessionStore(
  path: string,
  options: SessionStoreOptions = {},
): Promise<SessionStore> {
  const { openSqliteStorage } = await import("./sql-storage.ts");
  const storage = openSqliteStorage(path);
  if (storage.damage) options.onDamage?.(storage.damage);
  const { open, close } = storage;
  return { ...createSessionStore(open, options), plans: createPlanStore(open), close };
}

/** One conversation of its principal. */
export interface Session {
  readonly handle: string;
  /** Its memory as last read or changed through this object. */
  readonly memory: WorkingMemory;
  update(change: MemoryChange): Promise<void>;
  /** Deletes the session. */
  end(): Promise<void>;
}

/** The session of one call. Changes are visible to the call at once; `save` writes them together. */
export interface CallSession {
  readonly handle: string;
  readonly memory: WorkingMemory;
  /** The change must respect the limits itself. */
  update(change: MemoryChange): void;
  /** Never rejects: a tool may already have had its effect. */
  save(): Promise<void>;
}

export function isKnown(store: SessionStore, handle: string, principalId: string): Promise<boolean> {
  return store.read(handle, principalId).then(
    () => true,
    () => false,
  );
}

/** Opens a session for application code. Enforces the limits on its changes. */
export async function toSession(store: SessionStore, handle: string, principalId: string): Promise<Session> {
  let memory = await store.read(handle, principalId);
  return {
    handle,
    get memory() {
      return memory;
    },
    update: async (change) => {
      memory = await store.update(handle, principalId, (current) => bounded(change(current)));
    },
    end: () => store.end(handle, principalId),
  };
}

/** Opens the session of a call. Calls `onFailed` for changes that could not be saved. */
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
        await store.update(handle, principalId, (current) =>
          unsaved.reduce((now, change) => change(now), current),
        );
      } catch (error) {
        onFailed(error);
      }
    },
  };
}
