import { toStoredText } from "../../core/storage/postgres-client.ts";
import type { SearchDocument } from "../../search/port/search-index.ts";
import { type PostgresClient, queryRows } from "./postgres-client.ts";
import type { TableNames } from "./table-names.ts";
import { type DocumentRow, toDictionary, toRow } from "./to-row.ts";

const MAX_ROWS = 200;
const MAX_POSTINGS = 40_000;

/**
 * Writes documents in the order of their ids, in batches that succeed or fail as a whole. Skips unchanged documents
 * and deletes hidden ones.
 */
export async function writeDocuments(
  client: PostgresClient,
  names: TableNames,
  documents: readonly SearchDocument[],
): Promise<void> {
  const newest = new Map(documents.map((document) => [document.id, document]));
  const hidden = [...newest.values()].filter(({ visibility }) => visibility === "hidden");
  await dropDocuments(
    client,
    names,
    hidden.map(({ id }) => id),
  );
  const shown = [...newest.values()].filter(({ visibility }) => visibility !== "hidden");
  shown.sort((one, other) => (one.id < other.id ? -1 : 1));
  for (let from = 0; from < shown.length; from += MAX_ROWS) {
    const rows = shown.slice(from, from + MAX_ROWS).map(toRow);
    const changed = await changedRows(client, names, rows);
    for (const batch of batches(changed)) {
      await client.query(`select ${names.putFunction}($1::text::jsonb, $2::text::jsonb)`, [
        JSON.stringify(batch),
        JSON.stringify(toDictionary(batch)),
      ]);
    }
  }
}

export async function dropDocuments(
  client: PostgresClient,
  names: TableNames,
  ids: readonly string[],
): Promise<void> {
  const stored = [...new Set(ids.map(toStoredText))].sort();
  for (let from = 0; from < stored.length; from += MAX_ROWS) {
    await client.query(`select ${names.dropFunction}($1::text[])`, [stored.slice(from, from + MAX_ROWS)]);
  }
}

async function changedRows(
  client: PostgresClient,
  names: TableNames,
  rows: readonly DocumentRow[],
): Promise<DocumentRow[]> {
  const sql = `select id, hash from ${names.documents} where id = any($1::text[])`;
  const known = await queryRows(client, sql, [rows.map(({ id }) => id)]);
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
