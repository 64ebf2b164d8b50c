import { createHash } from "node:crypto";
import { MAX_TERM } from "../analysis/analyze.ts";
import { documentPostings } from "../lexical/document-postings.ts";
import { NAME_SIGN } from "../lexical/name-key.ts";
import type { SearchDocument } from "../search-index.ts";
import { toStoredText } from "../stored-text.ts";

/** A document as the tables have it. */
export interface DocumentRow {
  readonly id: string;
  readonly kind: string;
  readonly domain: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly scopes: readonly string[];
  readonly terms: readonly string[];
  readonly impacts: readonly number[];
  /** Of all the above: a row with the same hash need not be written again. */
  readonly hash: string;
}

export interface DictionaryRow {
  readonly term: string;
  /** How many of the rows written with it have the term. */
  readonly documents: number;
  /** -1 for a name's key, which no word is spelt alike to. */
  readonly length: number;
  readonly letters: number;
}

/** The terms are those of the embedded engine, and so is what each is worth. */
export function toRow(document: SearchDocument): DocumentRow {
  const postings = new Map<string, number>();
  for (const [term, { impact }] of documentPostings(document)) postings.set(toStoredText(term), impact);
  const row = {
    id: toStoredText(document.id),
    kind: document.kind,
    domain: toStoredText(document.domain),
    category: toStoredText(document.category ?? ""),
    tags: document.tags.map(toStoredText),
    scopes: document.scopes.map(toStoredText),
    terms: [...postings.keys()],
    impacts: [...postings.values()],
  };
  return { ...row, hash: hashOf(JSON.stringify(row)) };
}

/** The distinct terms of the rows. */
export function toDictionary(rows: readonly DocumentRow[]): DictionaryRow[] {
  const counts = new Map<string, number>();
  for (const { terms } of rows) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return Array.from(counts, ([term, documents]) => ({
    term,
    documents,
    length: term.startsWith(NAME_SIGN) ? -1 : Math.min(MAX_TERM, term.length),
    letters: lettersOf(term),
  }));
}

/** The set of a word's letters as 32 bits: words that differ in more of them than edits allow are not alike. */
export function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
