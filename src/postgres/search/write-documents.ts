import { hash } from "node:crypto";
import { toStoredText } from "../../core/storage/postgres-client.ts";
import { MAX_TERM } from "../../search/analysis/analyze.ts";
import { documentPostings } from "../../search/lexical/document-postings.ts";
import { lettersOf } from "../../search/lexical/live-segment.ts";
import { NAME_SIGN } from "../../search/lexical/names.ts";
import { inBatches, newestOf } from "../../search/port/engine-input.ts";
import type { SearchDocument } from "../../search/port/search-index.ts";
import { CONTENT_ONLY } from "../../search/ranking/tuning.ts";
import type { IndexTables } from "./index-tables.ts";
import { BODY_BIT } from "./posting-blocks.ts";

const MAX_ROWS = 200;
const MAX_POSTINGS = 40_000;

/** Writes documents by id, in batches that succeed or fail whole. Skips unchanged ones and deletes hidden ones. */
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
  const existing = await query(sql, [rows.map(({ id }) => id)]);
  const hashes = new Map(existing.map((row) => [row.id, row.hash]));
  return rows.filter((row) => hashes.get(row.id) !== row.hash);
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

type DocumentRow = Readonly<ReturnType<typeof toRow>>;

/** Turns a document into a row, with the terms and weights of the embedded engine. */
function toRow(document: SearchDocument) {
  const postings = new Map<string, number>();
  for (const [term, { impact, fields }] of documentPostings(document))
    postings.set(toStoredText(term), fields === CONTENT_ONLY ? impact | BODY_BIT : impact);
  const row = {
    id: toStoredText(document.id),
    kind: document.kind,
    domain: toStoredText(document.domain),
    category: toStoredText(document.category ?? ""),
    tags: document.tags.map(toStoredText),
    // Sorted, because words are counted by set of scopes.
    scopes: [...new Set(document.scopes.map(toStoredText))].sort(),
    terms: [...postings.keys()],
    impacts: [...postings.values()],
  };
  // A row with the same hash is not written again.
  return { ...row, hash: hash("sha256", JSON.stringify(row), "base64url") };
}

/** The distinct terms of the rows for each set of scopes, with the number of rows that have them. */
function toDictionary(rows: readonly DocumentRow[]): object[] {
  const groups = Map.groupBy(rows, ({ scopes }) => JSON.stringify(scopes));
  return [...groups.values()].flatMap(countTerms);
}

/** Counts the terms of rows with the same scopes. */
function countTerms(rows: readonly DocumentRow[]): object[] {
  const { scopes } = rows[0]!;
  const counts = new Map<string, number>();
  for (const { terms } of rows) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return Array.from(counts, ([term, documents]) => ({
    term,
    scopes,
    documents,
    // Keys of names are never compared by spelling.
    length: term.startsWith(NAME_SIGN) ? -1 : Math.min(MAX_TERM, term.length),
    letters: lettersOf(term),
  }));
}
