import { bounded, type MemoryChange, type WorkingMemory } from "./working-memory.ts";

/** Keeps what sessions remember, each for the principal that opened it. */
export interface SessionStore {
  /** Opens an empty session; the answer is its handle. */
  open(principalId: string): string;
  /** A handle that is unknown, expired or another principal's is refused alike, here and below. */
  read(handle: string, principalId: string): WorkingMemory;
  /** Applies the change to what is remembered now, so that no other change is lost. */
  update(handle: string, principalId: string, change: MemoryChange): WorkingMemory;
  /** Forgets the session. */
  end(handle: string, principalId: string): void;
  /** Lets go of the file, where there is one. */
  close(): void;
}

export interface SessionStoreOptions {
  /** The sessions used longest ago are forgotten beyond this many. Default: 10,000. */
  readonly maxSessions?: number;
  /** Milliseconds without a call after which a session is forgotten. */
  readonly idleMs?: number;
}

export const SESSION_PREFIX = "ses_";
const SESSION_SCHEME = "session://";
/** The session of the call itself: callers whose session is implied do not know its handle. */
export const CURRENT_SESSION = `${SESSION_SCHEME}current`;

/** Tells where a session can be read from what an entry is called: a domain may have any name. */
export function isSessionAddress(address: string): boolean {
  return address === CURRENT_SESSION || address.startsWith(SESSION_SCHEME + SESSION_PREFIX);
}

export function handleOf(address: string): string {
  return address.slice(SESSION_SCHEME.length);
}
export const MAX_SESSIONS = 10_000;

/** One conversation, as its principal sees it. */
export interface Session {
  readonly handle: string;
  /** What it remembers now. */
  readonly memory: WorkingMemory;
  update(change: MemoryChange): void;
  /** Forgets it. */
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

/** Refuses a handle that the principal does not have. */
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
 * A session that never fails the call that uses it: a tool may have had its effect by then. What could not
 * be remembered is told to `onFailed`.
 */
export function toLenientSession(session: Session, onFailed: (error: unknown) => void): Session {
  let last = session.memory;
  return {
    handle: session.handle,
    get memory() {
      try {
        last = session.memory;
      } catch (error) {
        onFailed(error);
      }
      return last;
    },
    update: (change) => {
      try {
        session.update(change);
      } catch (error) {
        onFailed(error);
      }
    },
    end: session.end,
  };
}
