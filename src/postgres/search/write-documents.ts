import { toStoredText } from "../../core/storage/postgres-client.ts";
import { inBatches, newestOf } from "../../search/port/engine-input.ts";
import type { SearchDocument } from "../../search/port/search-index.ts";
import type { IndexTables } from "./index-tables.ts";
import { type DocumentRow, toDictionary, toRow } from "./to-row.ts";

const MAX_ROWS = 200;
const MAX_POSTINGS = 40_000;

/**
 * Writes documents in the order of their ids, in batches that succeed or fail as a whole. Skips unchanged documents
 * and deletes hidden ones.
 */
export async function writeDocuments(
  tables: IndexTables,
  documents: readonly SearchDocument[],
): Promise<void> {
  const { shown, hidden } = newestOf(documents);
  await dropDocuments(tables, hidden);
  shown.sort((one, other) => (one.id < other.id ? -1 : 1));
  for (const page of inBatches(shown, MAX_ROWS)) {
    for (const batch of batches(await changedRows(tables, page.map(toRow)))) {
      await tables.query(`select ${tables.names.putFunction}($1::text::jsonb, $2::text::jsonb)`, [
        JSON.stringify(batch),
        JSON.stringify(toDictionary(batch)),
      ]);
    }
  }
}

export async function dropDocuments({ names, query }: IndexTables, ids: readonly string[]): Promise<void> {
  const stored = [...new Set(ids.map(toStoredText))].sort();
  for (const batch of inBatches(stored, MAX_ROWS))
    await query(`select ${names.dropFunction}($1::text[])`, [batch]);
}

async function changedRows(
  { names, query }: IndexTables,
  rows: readonly DocumentRow[],
): Promise<DocumentRow[]> {
  const sql = `select id, hash from ${names.documents} where id = any($1::text[])`;
  const known = await query(sql, [rows.map(({ id }) => id)]);
  const hashes = new Map(known.map(({ id, hash }) => [id, hash]));
  return rows.filter(({ id, hash }) => hashes.get(id) !== hash);
}

function batches(rows: readonly DocumentRow[]): DocumentRow[][] {
  const all: DocumentRow[][] = [];
  let postings = MAX_POSTINGS;
  for (const row of rows) {
    if (postings + row.terms.length > MAX_POSTINGS) {
      all.push([]);
      postings = 0;
    }
    all.at(-1)!.push(row);
    postings += row.terms.length;
  }
  return all;
}
