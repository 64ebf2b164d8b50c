import { chmodSync, closeSync, existsSync, openSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { lazy } from "../../base/util/lazy.ts";
import { makeFolder } from "../../base/util/make-folder.ts";

/** How long a statement waits for another process. It blocks this process; the caller retries. */
const BUSY_MS = 5_000;
const TASK_BUSY_MS = 1_000;
/** SQLite stores changes in files of these names next to the database. */
const SUFFIXES = ["", "-wal", "-shm", "-journal"];

/**
 * Opens a SQLite file that only its owner may read, or `:memory:`. Several parts may share one file. Each has a name
 * and its own migrations; migration n takes its tables from version n to n + 1. `damage` is set if the file was
 * damaged: it was renamed, and the state starts empty.
 */
export function openDatabase(
  path: string,
  part: string,
  migrations: readonly string[],
): { readonly database: DatabaseSync; readonly damage?: string } {
  const { value: database, damage } = onIntactFile(path, () => {
    const database = open(path, BUSY_MS);
    try {
      // Removed values must not remain in the file.
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON");
      migrate(database, part, migrations);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
  return { database, ...(damage !== undefined && { damage }) };
}

/**
 * Opens a SQLite file for one task and closes it. When the task is done, all changes are on disk, in this file alone.
 * Damage counts as with {@link openDatabase}, even if only the task finds it; the task then runs again on an empty
 * file.
 */
export function withDatabase<T>(
  path: string,
  part: string,
  migrations: readonly string[],
  task: (database: DatabaseSync) => T,
): { readonly value: T; readonly damage?: string | undefined } {
  return onIntactFile(path, () => {
    const database = open(path, TASK_BUSY_MS);
    try {
      migrate(database, part, migrations);
      return task(database);
    } finally {
      // Also rolls back what was not committed.
      database.close();
    }
  });
}

/** Renames only a file that SQLite cannot read as a database. Other failures may pass, so they are thrown. */
function onIntactFile<T>(path: string, attempt: () => T): { readonly value: T; readonly damage?: string } {
  const file = inodeOf(path);
  try {
    return { value: attempt() };
  } catch (error) {
    if (!isDamage(error)) throw error;
    // Another process may have renamed the damaged file already.
    const damage = inodeOf(path) === file ? setAside(path) : undefined;
    return { value: attempt(), ...(damage !== undefined && { damage }) };
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

function setAside(path: string): string {
  const aside = `${path}.damaged-${Date.now()}`;
  for (const suffix of SUFFIXES) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  return `${path} was damaged and is now ${aside}`;
}

/** Loaded on first use: Node 22 and 24 print a warning that does not help the user of a program. */
const loadSqlite = lazy(() => {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
});

function open(path: string, timeout: number): DatabaseSync {
  if (path !== ":memory:") {
    makeFolder(dirname(path));
    // SQLite would create a file that others can read until its mode is set.
    if (existsSync(path)) chmodSync(path, 0o600);
    else closeSync(openSync(path, "a", 0o600));
  }
  const database = new (loadSqlite().DatabaseSync)(path);
  // Node 22.15 ignores the option for this.
  database.exec(`PRAGMA busy_timeout = ${timeout}`);
  return database;
}

function migrate(database: DatabaseSync, part: string, migrations: readonly string[]): void {
  // The usual case writes nothing and takes no lock.
  if (versionOf(database, part) >= migrations.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    database.exec(
      "CREATE TABLE IF NOT EXISTS parts (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT",
    );
    const version = versionOf(database, part);
    for (const migration of migrations.slice(version)) database.exec(migration);
    database
      .prepare("INSERT INTO parts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version")
      .run(part, Math.max(migrations.length, version));
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

function versionOf(database: DatabaseSync, part: string): number {
  const [table] = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'parts'").all();
  const row = table && database.prepare("SELECT version FROM parts WHERE name = ?").get(part);
  return Number(row?.version ?? 0);
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. Their details are in the higher bits. */
function isDamage(error: unknown): boolean {
  const code = Number((error as { errcode?: unknown }).errcode) & 0xff;
  return code === 11 || code === 26;
}
