import { chmodSync, existsSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "../../base/util/make-folder.ts";

const BUSY_MS = 5_000;

/**
 * Opens a SQLite file that only its owner may read, or `:memory:`. Several parts may share one file. Each part has
 * a name and its own migrations; migration n takes its tables from version n to n + 1. `damage` is set if the file was
 * damaged: it was renamed, and the state starts empty.
 */
export function openDatabase(
  path: string,
  part: string,
  migrations: readonly string[],
): { readonly database: DatabaseSync; readonly damage?: string } {
  if (path !== ":memory:") makeFolder(dirname(path));
  try {
    return { database: open(path, part, migrations) };
  } catch (error) {
    if (!isDamage(error)) throw error;
    const aside = `${path}.damaged-${Date.now()}`;
    for (const suffix of ["", "-wal", "-shm"])
      if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
    return { database: open(path, part, migrations), damage: `${path} was damaged and is now ${aside}` };
  }
}

function open(path: string, part: string, migrations: readonly string[]): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    if (path !== ":memory:") chmodSync(path, 0o600);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
    migrate(database, part, migrations);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function migrate(database: DatabaseSync, part: string, migrations: readonly string[]): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    database.exec(
      "CREATE TABLE IF NOT EXISTS parts (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT",
    );
    const row = database.prepare("SELECT version FROM parts WHERE name = ?").get(part);
    for (const migration of migrations.slice(Number(row?.version ?? 0))) database.exec(migration);
    database
      .prepare("INSERT INTO parts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version")
      .run(part, Math.max(migrations.length, Number(row?.version ?? 0)));
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
function isDamage(error: unknown): boolean {
  const code = (error as { errcode?: unknown }).errcode;
  return code === 11 || code === 26;
}
