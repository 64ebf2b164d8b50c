import { hash, randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { publish } from "../telemetry/events.ts";
import { withDatabase } from "./open-database.ts";
import type { RecordStorage, RecordTexts } from "./records.ts";

const MIGRATIONS = [
  `CREATE TABLE records (
     kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, checksum TEXT NOT NULL, PRIMARY KEY (kind, key)
   ) STRICT;
   CREATE TABLE revisions (kind TEXT PRIMARY KEY, revision TEXT NOT NULL) STRICT`,
];
const NOTHING: RecordTexts = { version: "", texts: new Map() };
/** A file that changed this recently may change again without a new time stamp. */
const SETTLED_MS = 100;
const TRIES = 4;
/** The folder cannot be created: retries are useless. */
const NO_FOLDER = ["ENOTDIR", "ENOENT"];
const PAUSE_MS = 50;

/**
 * Stores records in a SQLite file that processes share. Nothing stays open between uses. A record with a wrong checksum
 * does not count. A file that is no database is renamed, and `damage` says so; a file that cannot be used now is left
 * alone.
 */
export function openRecordFile(path: string): RecordStorage {
  let damage: string | undefined;
  let failure: string | undefined;
  const lastReads = new Map<string, { readonly stamp: string; readonly version: string }>();

  /** @throws STATE_UNREADABLE if the file cannot be used now. */
  function attempt<T>(task: () => T): T {
    try {
      const value = task();
      failure = undefined;
      return value;
    } catch (error) {
      if (NO_FOLDER.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      const reason = reasonOf(error);
      if (failure !== reason)
        publish({ type: "notice", notice: "state-failed", detail: `${path}: ${reason}` });
      failure = reason;
      throw problem("STATE_UNREADABLE", { path, reason });
    }
  }

  function use<T>(task: (database: DatabaseSync) => T): T {
    const used = withDatabase(path, "records", MIGRATIONS, task);
    if (used.damage !== undefined) {
      damage = `${used.damage}; nothing in it counts.`;
      publish({ type: "notice", notice: "state-failed", detail: damage });
    }
    return used.value;
  }

  function read(kind: string, knownVersion: string | undefined): RecordTexts | undefined {
    // Before the records, so that no change in between is missed.
    const stamp = stampOf(path);
    const last = lastReads.get(kind);
    if (knownVersion !== undefined && last?.stamp === stamp && last?.version === knownVersion)
      return undefined;
    const records = stamp === "" ? NOTHING : use((database) => readAll(database, kind, knownVersion));
    const version = records?.version ?? knownVersion ?? "";
    if (stamp === undefined) lastReads.delete(kind);
    else lastReads.set(kind, { stamp, version });
    return version === knownVersion ? undefined : records;
  }

  return {
    name: path,
    isShared: true,
    get damage() {
      return damage;
    },
    read: (kind, versionSeen) => attempt(() => read(kind, versionSeen)),
    change: async (kind, changes, onlyNew = false) => {
      const write = () => attempt(() => use((database) => writeAll(database, kind, changes, onlyNew)));
      for (let tries = 1; tries < TRIES; tries += 1) {
        try {
          return write();
        } catch {
          await setTimeout(tries * PAUSE_MS);
        }
      }
      return write();
    },
  };
}

/**
 * Identifies the content of the file: empty if it is missing, undefined if the next change may have the same stamp. In
 * WAL mode, changes are in a second file.
 */
function stampOf(path: string): string | undefined {
  const [file, log] = [path, `${path}-wal`].map((name) =>
    statSync(name, { bigint: true, throwIfNoEntry: false }),
  );
  if (!file) return "";
  const isSettled = [file, log].every(
    (part) => !part || Math.abs(Date.now() - Number(part.mtimeMs)) > SETTLED_MS,
  );
  return isSettled
    ? [file, log].map((part) => part && `${part.ino} ${part.mtimeNs} ${part.size}`).join()
    : undefined;
}

function readAll(database: DatabaseSync, kind: string, known: string | undefined): RecordTexts | undefined {
  // One transaction, so that records and revision match. Closing the connection ends it.
  database.exec("BEGIN");
  const row = database.prepare("SELECT revision FROM revisions WHERE kind = ?").get(kind);
  if (!row) return NOTHING;
  if (row.revision === known) return undefined;
  const rows = database.prepare("SELECT key, value, checksum FROM records WHERE kind = ?").all(kind);
  const texts = new Map<string, string>();
  for (const { key, value, checksum } of rows as { key: string; value: string; checksum: string }[])
    if (checksum === checksumOf(kind, key, value)) texts.set(key, value);
  return { version: String(row.revision), texts, damaged: rows.length - texts.size };
}

function writeAll(
  database: DatabaseSync,
  kind: string,
  changes: ReadonlyMap<string, string | undefined>,
  onlyNew: boolean,
): number {
  // Removed secrets must not remain in the file.
  database.exec("PRAGMA secure_delete = ON; BEGIN IMMEDIATE");
  const replace = `UPDATE SET value = excluded.value, checksum = excluded.checksum
    WHERE value <> excluded.value OR checksum <> excluded.checksum`;
  const set = database.prepare(
    `INSERT INTO records VALUES (?, ?, ?, ?) ON CONFLICT (kind, key) DO ${onlyNew ? "NOTHING" : replace}`,
  );
  const remove = database.prepare("DELETE FROM records WHERE kind = ? AND key = ?");
  let count = 0;
  for (const [key, value] of changes) {
    const done =
      value === undefined ? remove.run(kind, key) : set.run(kind, key, value, checksumOf(kind, key, value));
    count += Number(done.changes);
  }
  if (count > 0)
    database
      .prepare(
        "INSERT INTO revisions VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET revision = excluded.revision",
      )
      .run(kind, randomUUID());
  database.exec("COMMIT");
  return count;
}

function checksumOf(kind: string, key: string, value: string): string {
  return hash("sha256", JSON.stringify([kind, key]) + value);
}
