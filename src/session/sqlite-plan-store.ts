import type { DatabaseSync } from "node:sqlite";
import { problem } from "../schema/problem.ts";
import type { Json } from "../util/json.ts";
import { openDatabase } from "../util/open-database.ts";
import { mintHandle } from "./mint-handle.ts";
import { PLAN_KEPT_MS, PLAN_PREFIX, type PlanStore, takenPosition } from "./plan-store.ts";

const MIGRATIONS = [
  `CREATE TABLE plan_events (
    handle TEXT NOT NULL,
    position INTEGER NOT NULL,
    principal TEXT NOT NULL,
    at INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (handle, position)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX plan_events_by_time ON plan_events (principal, at)`,
];
const MOST_PLANS_OF_ONE = 1_000;
const MIB = 1024 * 1024;
const MOST_BYTES_OF_ONE = 256 * MIB;
/** Counting takes longer than adding, so it is done after this part of the bound was added. */
const COUNTED_PART = 16;

interface SqlitePlanOptions {
  /** Bytes of one principal's plans. The oldest make room, but never the newest. */
  readonly mostBytes?: number;
}

/** Keeps plans in a SQLite file. An event is on its way to the disk before the next call of a plan begins. */
export function openSqlitePlanStore(path: string, options: SqlitePlanOptions = {}): PlanStore {
  const { mostBytes = MOST_BYTES_OF_ONE } = options;
  const { database } = openDatabase(path, "plans", MIGRATIONS);
  const statements = prepare(database);
  let uncounted = 0;

  function toText(event: Json): string {
    const text = JSON.stringify(event);
    uncounted += text.length;
    return text;
  }

  function makeRoom(principalId: string): void {
    if (uncounted < mostBytes / COUNTED_PART) return;
    uncounted = 0;
    let left = mostBytes;
    for (const { handle, bytes } of statements.sizes.all(principalId)) {
      const isNewest = left === mostBytes;
      left -= Number(bytes);
      if (left < 0 && !isNewest) statements.end.run(handle!);
    }
  }

  function read(handle: string, principalId: string): Json[] {
    const rows = statements.read.all(handle, principalId, Date.now() - PLAN_KEPT_MS);
    if (rows.length === 0) throw problem("UNKNOWN_HANDLE", { handle });
    return rows.map(({ event }) => JSON.parse(String(event)) as Json);
  }

  return {
    open: async (principalId, events) => {
      statements.forget.run(Date.now() - PLAN_KEPT_MS);
      statements.forgetOldest.run(principalId, principalId, MOST_PLANS_OF_ONE);
      const handle = mintHandle(PLAN_PREFIX);
      for (const [position, event] of events.entries())
        statements.add.run(handle, position, principalId, Date.now(), toText(event));
      return handle;
    },
    read: async (handle, principalId) => read(handle, principalId),
    append: async (handle, principalId, position, event) => {
      const { changes } = statements.append.run(
        ...[handle, position, principalId, Date.now(), toText(event)],
        ...[handle, principalId, position],
      );
      makeRoom(principalId);
      if (changes === 1) return;
      read(handle, principalId);
      throw takenPosition();
    },
    close: () => database.close(),
  };
}

function prepare(database: DatabaseSync) {
  return {
    read: database.prepare(
      "SELECT event FROM plan_events WHERE handle = ? AND principal = ? AND at > ? ORDER BY position",
    ),
    add: database.prepare("INSERT INTO plan_events VALUES (?, ?, ?, ?, ?)"),
    append: database.prepare(
      `INSERT OR IGNORE INTO plan_events SELECT ?, ?, ?, ?, ?
       WHERE (SELECT count(*) FROM plan_events WHERE handle = ? AND principal = ?) = max(1, ?)`,
    ),
    forget: database.prepare("DELETE FROM plan_events WHERE at < ?"),
    sizes: database.prepare(
      `SELECT handle, sum(octet_length(event)) AS bytes FROM plan_events
       WHERE principal = ? GROUP BY handle ORDER BY max(at) DESC`,
    ),
    end: database.prepare("DELETE FROM plan_events WHERE handle = ?"),
    forgetOldest: database.prepare(
      `DELETE FROM plan_events WHERE principal = ? AND handle NOT IN (
         SELECT handle FROM plan_events WHERE principal = ? AND position = 0 ORDER BY at DESC LIMIT ?)`,
    ),
  };
}
