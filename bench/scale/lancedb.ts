import { join } from "node:path";
import type { CorpusDocument } from "../corpus.ts";
import type { CreateEngine } from "./engine.ts";
import { loadPeer } from "./peers.ts";
import { toOneText } from "./to-one-text.ts";

interface Table {
  add(rows: readonly object[]): Promise<unknown>;
  createIndex(column: string, options: { config: unknown }): Promise<void>;
  optimize(): Promise<unknown>;
  search(query: unknown, type: "fts", column: string): Query;
  mergeInsert(column: string): Merge;
  close(): void;
}
interface Query {
  select(columns: readonly string[]): Query;
  limit(limit: number): Query;
  toArray(): Promise<{ id: string }[]>;
}
interface Merge {
  whenMatchedUpdateAll(): Merge;
  whenNotMatchedInsertAll(): Merge;
  execute(rows: readonly object[]): Promise<unknown>;
}
interface Connection {
  createTable(name: string, rows: readonly object[]): Promise<Table>;
  openTable(name: string): Promise<Table>;
}
interface Lance {
  connect(path: string): Promise<Connection>;
  readonly Index: { fts(options: { withPosition: boolean }): unknown; btree(): unknown };
}

/** Rows per write. Every write makes a version of the table. */
const ROWS_PER_WRITE = 20_000;

export const createEngine: CreateEngine = (folder) => {
  const { connect, Index } = loadPeer<Lance>("@lancedb/lancedb");
  let table: Table | undefined;
  return {
    async build(batches) {
      const connection = await connect(join(folder, "lance"));
      let rows: object[] = [];
      const flush = async (): Promise<void> => {
        if (table === undefined) table = await connection.createTable("documents", rows);
        else await table.add(rows);
        rows = [];
      };
      for (const batch of batches) {
        rows.push(...batch.map(toRow));
        if (rows.length >= ROWS_PER_WRITE) await flush();
      }
      if (rows.length > 0) await flush();
      await table!.createIndex("id", { config: Index.btree() });
      await table!.createIndex("text", { config: Index.fts({ withPosition: false }) });
      await table!.optimize();
    },
    async search(query, limit) {
      const hits = await table!.search(query, "fts", "text").select(["id", "_score"]).limit(limit).toArray();
      return hits.map((hit) => hit.id);
    },
    async upsert(document) {
      await table!
        .mergeInsert("id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute([toRow(document)]);
    },
    async save() {},
    async reopen() {
      const connection = await connect(join(folder, "lance"));
      table = await connection.openTable("documents");
    },
    close: () => table?.close(),
  };
};

function toRow(document: CorpusDocument): { id: string; text: string } {
  return { id: document.id, text: toOneText(document) };
}
