// The site's tables, and the helpers with which every tool reads and writes them.
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

const TABLES = [
  "section_images",
  "sections",
  "navigation",
  "entries",
  "posts",
  "pages",
  "images",
  "counters",
];

const SCHEMA = `
  PRAGMA foreign_keys = ON;
  CREATE TABLE IF NOT EXISTS counters (kind TEXT PRIMARY KEY, value INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS images (
    id TEXT PRIMARY KEY, filename TEXT NOT NULL UNIQUE, url TEXT NOT NULL, alt TEXT NOT NULL,
    description TEXT NOT NULL, tags TEXT NOT NULL, source TEXT, data BLOB, created_at TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS pages (
    id TEXT PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL, description TEXT NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS sections (
    id TEXT PRIMARY KEY, page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    template TEXT NOT NULL, name TEXT NOT NULL, position INTEGER NOT NULL,
    content TEXT NOT NULL, updated_at TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS section_images (
    section_id TEXT NOT NULL REFERENCES sections (id) ON DELETE CASCADE, field TEXT NOT NULL,
    position INTEGER NOT NULL, image_id TEXT NOT NULL REFERENCES images (id),
    PRIMARY KEY (section_id, field, position)
  );
  CREATE TABLE IF NOT EXISTS posts (
    id TEXT PRIMARY KEY, slug TEXT NOT NULL UNIQUE, title TEXT NOT NULL, excerpt TEXT NOT NULL,
    body TEXT NOT NULL, author TEXT NOT NULL, status TEXT NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, published_at TEXT
  );
  CREATE TABLE IF NOT EXISTS navigation (
    id TEXT PRIMARY KEY, label TEXT NOT NULL, url TEXT NOT NULL, position INTEGER NOT NULL,
    visible INTEGER NOT NULL
  );
  CREATE TABLE IF NOT EXISTS entries (
    id TEXT PRIMARY KEY, collection TEXT NOT NULL, slug TEXT NOT NULL, title TEXT NOT NULL,
    summary TEXT NOT NULL, content TEXT NOT NULL, position INTEGER NOT NULL, UNIQUE (collection, slug)
  );
`;

/** Opens the site's database and fills it if it is new. */
export function openDatabase(path: string, fill: (database: DatabaseSync) => void): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec(SCHEMA);
  const { user_version } = one<{ user_version: number }>(database, "PRAGMA user_version")!;
  if (user_version === 0) refill(database, fill);
  return database;
}

/** Empties the tables and fills them again, in one transaction. */
export function refill(database: DatabaseSync, fill: (database: DatabaseSync) => void): void {
  inTransaction(database, () => {
    for (const table of TABLES) run(database, `DELETE FROM ${table}`);
    fill(database);
    database.exec("PRAGMA user_version = 1");
  });
}

export function all<Row>(database: DatabaseSync, sql: string, ...params: SQLInputValue[]): Row[] {
  return database.prepare(sql).all(...params) as Row[];
}

export function one<Row>(database: DatabaseSync, sql: string, ...params: SQLInputValue[]): Row | undefined {
  return database.prepare(sql).get(...params) as Row | undefined;
}

export function run(database: DatabaseSync, sql: string, ...params: SQLInputValue[]): void {
  database.prepare(sql).run(...params);
}

/** Runs `work` in a transaction. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

/** Counts ids, so the same calls on a reset site make the same ids. */
export function nextId(database: DatabaseSync, kind: string): string {
  const sql = `INSERT INTO counters VALUES (?, 1) ON CONFLICT (kind) DO UPDATE SET value = value + 1
    RETURNING value`;
  return `${kind}_new_${one<{ value: number }>(database, sql, kind)!.value}`;
}
