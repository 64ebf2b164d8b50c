import type { SQLInputValue, StatementSync } from "node:sqlite";
import { openDatabase } from "./open-database.ts";
import { createSqlDriver, storageTable } from "./sql-storage.ts";

const TABLE = "stored_values";
const NOW = "cast(round(unixepoch('subsec') * 1000) as integer)";

/**
 * Keeps values in a SQLite file, or in `:memory:`. A value is written before the promise of its change resolves. `damage`
 * is set if the file was damaged: it was renamed, and the storage starts empty.
 */
export function openSqliteStorage(path: string) {
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
