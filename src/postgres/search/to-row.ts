import { createHash } from "node:crypto";
import { toStoredText } from "../../core/storage/postgres-client.ts";
import { MAX_TERM } from "../../search/analysis/analyze.ts";
import { documentPostings } from "../../search/lexical/document-postings.ts";
import { lettersOf } from "../../search/lexical/live-segment.ts";
import { NAME_SIGN } from "../../search/lexical/names.ts";
import type { SearchDocument } from "../../search/port/search-index.ts";
import { CONTENT_ONLY } from "../../search/ranking/tuning.ts";
import { BODY_BIT } from "./posting-blocks.ts";

/** A document as a row of the tables. */
export interface DocumentRow {
  readonly id: string;
  readonly kind: string;
  readonly domain: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly scopes: readonly string[];
  readonly terms: readonly string[];
  readonly impacts: readonly number[];
  /** Hash of the fields above: a row with the same hash is not written again. */
  readonly hash: string;
}

export interface DictionaryRow {
  readonly term: string;
  readonly scopes: readonly string[];
  /** How many rows of the batch have the term and these scopes. */
  readonly documents: number;
  /** -1 for the key of a name, which takes no part in spelling. */
  readonly length: number;
  readonly letters: number;
}

/** Turns a document into a row, with the terms and weights of the embedded engine. */
export function toRow(document: SearchDocument): DocumentRow {
  const postings = new Map<string, number>();
  for (const [term, { impact, fields }] of documentPostings(document))
    postings.set(toStoredText(term), fields === CONTENT_ONLY ? impact | BODY_BIT : impact);
  const row = {
    id: toStoredText(document.id),
    kind: document.kind,
    domain: toStoredText(document.domain),
    category: toStoredText(document.category ?? ""),
    tags: document.tags.map(toStoredText),
    // In one order, because words are counted by set of scopes.
    scopes: [...new Set(document.scopes.map(toStoredText))].sort(),
    terms: [...postings.keys()],
    impacts: [...postings.values()],
  };
  return { ...row, hash: hashOf(JSON.stringify(row)) };
}

/** Returns the distinct terms of the rows, apart for each set of scopes. */
export function toDictionary(rows: readonly DocumentRow[]): DictionaryRow[] {
  const groups = Map.groupBy(rows, ({ scopes }) => JSON.stringify(scopes));
  return [...groups.values()].flatMap(countTerms);
}

/** Counts the terms of rows that have the same scopes. */
function countTerms(rows: readonly DocumentRow[]): DictionaryRow[] {
  const { scopes } = rows[0]!;
  const counts = new Map<string, number>();
  for (const { terms } of rows) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return Array.from(counts, ([term, documents]) => ({
    term,
    scopes,
    documents,
    length: term.startsWith(NAME_SIGN) ? -1 : Math.min(MAX_TERM, term.length),
    letters: lettersOf(term),
  }));
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
