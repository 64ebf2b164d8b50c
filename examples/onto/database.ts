// One SQLite database: entities, the edges between them, and a counter for new ids.
import { DatabaseSync } from "node:sqlite";
import { EDGES, ENTITIES, STARTED_AT } from "./data/data.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entities (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    project_id TEXT NOT NULL REFERENCES entities (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    title TEXT NOT NULL,
    description TEXT,
    type_key TEXT NOT NULL,
    state_key TEXT NOT NULL,
    priority INTEGER,
    due_at TEXT,
    impact TEXT,
    probability TEXT,
    content TEXT,
    parent_id TEXT REFERENCES entities (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    position INTEGER,
    version INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS edges (
    id TEXT PRIMARY KEY,
    from_id TEXT NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    rel TEXT NOT NULL,
    to_id TEXT NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    UNIQUE (from_id, rel, to_id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS ids (next INTEGER NOT NULL) STRICT;
`;

/** The first number for new ids. The ids of the initial data are words. */
const FIRST_ID = 1001;

/** The database with the clock that dates its writes. */
export interface Onto {
  readonly database: DatabaseSync;
  readonly now: () => Date;
}

export function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec(SCHEMA);
  // SQLite's lower() handles only ASCII.
  database.function("fold", { deterministic: true }, (text) => String(text).toLowerCase());
  if (!database.prepare("SELECT next FROM ids").get()) fill(database);
  return database;
}

/** Discards all changes and restores the initial data. */
export function fill(database: DatabaseSync): void {
  commit(database, () => {
    database.exec(`DELETE FROM edges; DELETE FROM entities; DELETE FROM ids;`);
    database.prepare("INSERT INTO ids VALUES (?)").run(FIRST_ID);
    for (const entity of ENTITIES) {
      insert(database, "entities", { ...entity, created_at: STARTED_AT, updated_at: STARTED_AT });
    }
    for (const [from_id, rel, to_id] of EDGES) {
      insert(database, "edges", { id: `edge_${from_id}_${rel}_${to_id}`, from_id, rel, to_id });
    }
  });
}

type Value = string | number | null;

/** Inserts a row. Column names come from this code, never from a caller. */
export function insert(
  database: DatabaseSync,
  table: "entities" | "edges",
  row: Readonly<Record<string, Value | undefined>>,
): void {
  const given = Object.entries(row).filter((cell): cell is [string, Value] => cell[1] !== undefined);
  const columns = given.map(([column]) => column).join(", ");
  const places = given.map(() => "?").join(", ");
  database
    .prepare(`INSERT INTO ${table} (${columns}) VALUES (${places})`)
    .run(...given.map(([, value]) => value));
}

export function nextId(database: DatabaseSync, prefix: string): string {
  const row = database.prepare("UPDATE ids SET next = next + 1 RETURNING next - 1 AS number").get();
  return `${prefix}_${row?.number}`;
}

/** Runs `body` in a transaction. */
export function commit<Result>(database: DatabaseSync, body: () => Result): Result {
  return within(database, "COMMIT", body);
}

/** Runs `body` and undoes its writes. It answers and refuses like a real run. */
export function rehearse<Result>(database: DatabaseSync, body: () => Result): Result {
  return within(database, "ROLLBACK", body);
}

function within<Result>(database: DatabaseSync, end: "COMMIT" | "ROLLBACK", body: () => Result): Result {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = body();
    database.exec(end);
    return result;
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
