import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { CorpusDocument } from "../corpus.ts";
import type { CreateEngine } from "./engine.ts";

const WORD = /[\p{L}\p{N}]+/gu;

/** FTS5 with Porter's stemmer, without a copy of the texts. Ids are in a second table. */
export const createEngine: CreateEngine = (folder) => {
  const database = new DatabaseSync(join(folder, "words.db"));
  database.exec(`
    PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -262144; PRAGMA mmap_size = 4294967296;
    CREATE TABLE IF NOT EXISTS ids (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL);
    CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
      name, description, parameters, content = '', contentless_delete = 1, tokenize = 'porter unicode61');
  `);
  const insertId = database.prepare("INSERT INTO ids (id) VALUES (?)");
  const insertWords = database.prepare(
    "INSERT INTO words (rowid, name, description, parameters) VALUES (?, ?, ?, ?)",
  );
  const find = database.prepare("SELECT number FROM ids WHERE id = ?");
  const deleteWords = database.prepare("DELETE FROM words WHERE rowid = ?");
  // FTS5 reports row ids of its own tables that exceed a safe integer.
  insertWords.setReadBigInts(true);
  deleteWords.setReadBigInts(true);
  const search = database.prepare(`
    SELECT id FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?) AS hit
    JOIN ids ON ids.number = hit.rowid`);

  function transaction(work: () => void): void {
    database.exec("BEGIN");
    work();
    database.exec("COMMIT");
  }

  function add(number: number | bigint, { name, description, parameters }: CorpusDocument): void {
    insertWords.run(number, name, description, parameters);
  }

  return {
    async build(batches) {
      for (const batch of batches) {
        transaction(() => {
          for (const document of batch) add(insertId.run(document.id).lastInsertRowid, document);
        });
      }
      database.exec("INSERT INTO words (words) VALUES ('optimize')");
    },
    search(query, limit) {
      const any = (query.match(WORD) ?? []).map((word) => `"${word}"`).join(" OR ");
      return search.all(any, limit).map((row) => String(row.id));
    },
    upsert(document) {
      transaction(() => {
        const number = Number(find.get(document.id)!.number);
        deleteWords.run(number);
        add(number, document);
      });
    },
    async save() {
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    async reopen() {},
    close: () => database.close(),
  };
};
