import { LRUCache } from "lru-cache";
import { problem } from "../schema/problem.ts";
import { mintHandle } from "./mint-handle.ts";

/** What one conversation has been given so far. */
export interface Session {
  readonly handle: string;
  /** Ids of the rules already delivered. */
  readonly rules: Set<string>;
  /** Routes that guidance has unveiled. */
  readonly unveiled: Set<string>;
}

export interface SessionStore {
  /** `"new"` opens a session. A handle that is unknown, expired or another principal's is refused alike. */
  open(handle: string, principalId: string): Session;
}

const MAX_SESSIONS = 10_000;
const IDLE_MS = 30 * 60_000;

export function createSessionStore(): SessionStore {
  const sessions = new LRUCache<string, Session & { readonly principalId: string }>({
    max: MAX_SESSIONS,
    ttl: IDLE_MS,
    updateAgeOnGet: true,
  });
  return {
    open: (handle, principalId) => {
      if (handle === "new") {
        const opened = {
          handle: mintHandle("ses_"),
          principalId,
          rules: new Set<string>(),
          unveiled: new Set<string>(),
        };
        sessions.set(opened.handle, opened);
        return opened;
      }
      const known = sessions.get(handle);
      if (!known || known.principalId !== principalId) throw problem("UNKNOWN_HANDLE", { handle });
      return known;
    },
  };
}
