import type { DatabaseSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import { problem } from "../schema/problem.ts";
import { openDatabase } from "../util/open-database.ts";
import { equalShare } from "./equal-share.ts";
import { fromStored, toStored } from "./memory-codec.ts";
import { mintHandle } from "./mint-handle.ts";
import {
  MAX_SESSIONS,
  mostOfOnePrincipal,
  SESSION_PREFIX,
  type SessionStore,
  type SessionStoreOptions,
} from "./session-store.ts";
import { EMPTY_MEMORY, type WorkingMemory } from "./working-memory.ts";

const IDLE_MS = 7 * 24 * 60 * 60_000;
/** A sweep reads every session, so it does not run for every new one. */
const SWEEP_EVERY = 64;
/** Sessions are marked as used at most once in this part of their lifetime. */
const RENEWALS = 100;
const MOST_KNOWN = 256;

const MIGRATIONS = [
  `CREATE TABLE sessions (
    handle TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    memory TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_by_use ON sessions (used_at)`,
  "CREATE INDEX sessions_by_principal ON sessions (principal, used_at)",
];

/** Implements {@link createSqliteSessionStore}. Every change is one transaction. */
export function openSqliteSessionStore(path: string, options: SessionStoreOptions): SessionStore {
  const { maxSessions = MAX_SESSIONS, idleMs = IDLE_MS } = options;
  const { database, damage } = openDatabase(path, "sessions", MIGRATIONS);
  if (damage) options.onDamage?.(damage);
  const statements = prepare(database);
  // Caches the memory last read or written, to save parsing it while it is unchanged.
  const known = new LRUCache<string, { readonly text: string; readonly memory: WorkingMemory }>({
    max: MOST_KNOWN,
  });
  let untilSweep = 0;

  function sweep(): void {
    if (untilSweep > 0) {
      untilSweep -= 1;
      return;
    }
    untilSweep = Math.min(SWEEP_EVERY, maxSessions) - 1;
    statements.forgetIdle.run(Date.now() - idleMs);
    const room = Math.max(0, maxSessions - 1);
    const held = statements.held.all() as unknown as { principal: string; sessions: number }[];
    const share = equalShare(
      held.map(({ sessions }) => sessions),
      room,
    );
    const most = Math.min(mostOfOnePrincipal(maxSessions) - 1, share);
    for (const { principal, sessions } of held) {
      if (sessions > most) statements.forgetOldestOf.run(principal, most);
    }
    // Only for more principals than sessions that may be kept.
    statements.forgetOldest.run(room);
  }

  function find(handle: string, principalId: string): WorkingMemory {
    const now = Date.now();
    const row = statements.find.get(handle, principalId, now - idleMs);
    const text = String(row?.memory);
    const last = known.get(handle);
    const memory = row && (last?.text === text ? last.memory : fromStored(text));
    if (!memory) throw problem("UNKNOWN_HANDLE", { handle });
    known.set(handle, { text, memory });
    if (now - Number(row.used_at) > idleMs / RENEWALS) statements.renew.run(now, handle);
    return memory;
  }

  return {
    open: async (principalId) => {
      sweep();
      const handle = mintHandle(SESSION_PREFIX);
      statements.add.run(handle, principalId, Date.now(), toStored(EMPTY_MEMORY));
      return handle;
    },
    read: async (handle, principalId) => find(handle, principalId),
    update: async (handle, principalId, change) =>
      inTransaction(database, () => {
        const memory = change(find(handle, principalId));
        const text = toStored(memory);
        statements.change.run(text, Date.now(), handle);
        known.set(handle, { text, memory });
        return memory;
      }),
    end: async (handle, principalId) =>
      inTransaction(database, () => {
        find(handle, principalId);
        statements.end.run(handle);
      }),
    close: () => database.close(),
  };
}

function prepare(database: DatabaseSync) {
  return {
    add: database.prepare("INSERT INTO sessions (handle, principal, used_at, memory) VALUES (?, ?, ?, ?)"),
    find: database.prepare(
      "SELECT memory, used_at FROM sessions WHERE handle = ? AND principal = ? AND used_at >= ?",
    ),
    change: database.prepare("UPDATE sessions SET memory = ?, used_at = ? WHERE handle = ?"),
    renew: database.prepare("UPDATE sessions SET used_at = ? WHERE handle = ?"),
    end: database.prepare("DELETE FROM sessions WHERE handle = ?"),
    forgetIdle: database.prepare("DELETE FROM sessions WHERE used_at < ?"),
    forgetOldestOf: database.prepare(
      `DELETE FROM sessions WHERE handle IN
        (SELECT handle FROM sessions WHERE principal = ? ORDER BY used_at DESC LIMIT -1 OFFSET ?)`,
    ),
    held: database.prepare("SELECT principal, count(*) AS sessions FROM sessions GROUP BY principal"),
    forgetOldest: database.prepare(
      "DELETE FROM sessions WHERE handle IN (SELECT handle FROM sessions ORDER BY used_at DESC LIMIT -1 OFFSET ?)",
    ),
  };
}

/** Takes the write lock before reading, so that no other process writes in between. */
function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const done = work();
    database.exec("COMMIT");
    return done;
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
