// The data behind the onto example: projects, and documents that form a tree in each of them.
import { DatabaseSync } from "node:sqlite";

const SCHEMA = `
  CREATE TABLE projects (id TEXT PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE documents (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    parent_id TEXT REFERENCES documents (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    title TEXT NOT NULL,
    state_key TEXT NOT NULL DEFAULT 'draft'
  );
  CREATE TABLE tasks (
    id INTEGER PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    title TEXT NOT NULL,
    priority INTEGER NOT NULL
  );
`;

const DOCUMENTS = [
  ["doc_engineering", null, 0, "Engineering"],
  ["doc_adr", "doc_engineering", 0, "Decision records"],
  ["doc_adr_1", "doc_adr", 0, "Why SQLite"],
  ["doc_marketing", null, 1, "Marketing"],
  ["doc_api_spec", "doc_marketing", 0, "API Spec"],
  ["doc_launch", "doc_marketing", 1, "Launch plan"],
] as const;

export function openDatabase(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  database.exec(SCHEMA);
  database.prepare("INSERT INTO projects VALUES (?, ?)").run("prj_atlas", "Atlas");
  const insert = database.prepare(
    "INSERT INTO documents (id, project_id, parent_id, position, title) VALUES (?, 'prj_atlas', ?, ?, ?)",
  );
  for (const row of DOCUMENTS) insert.run(...row);
  return database;
}
