import type { SQLInputValue, StatementSync } from "node:sqlite";
import { openDatabase } from "./open-database.ts";
import { createSqlDriver, storageTable } from "./sql-storage.ts";
import type { OpenStorage } from "./storage.ts";

/** A SQLite file as a driver of storage. */
export interface SqliteStorage {
  readonly open: OpenStorage;
  /** Set if the file was damaged. It was renamed, and the storage starts empty. */
  readonly damage: string | undefined;
  close(): void;
}

const TABLE = "stored_values";
const NOW = "cast(round(unixepoch('subsec') * 1000) as integer)";

/** Keeps values in a SQLite file, or in `:memory:`. A value is written before the promise of its change resolves. */
export function openSqliteStorage(path: string): SqliteStorage {
  const { database, damage } = openDatabase(path, "storage", [storageTable(TABLE)]);
  const statements = new Map<string, StatementSync>();

  async function query(sql: string, params: unknown[] = []) {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    const named = params.map((value, at) => [`$${at + 1}`, value as SQLInputValue]);
    return statement.all(Object.fromEntries(named));
  }

  return {
    open: createSqlDriver({ query, now: NOW }, TABLE),
    damage,
    close: () => database.close(),
  };
}
