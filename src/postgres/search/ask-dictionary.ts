import { fromStoredText, toStoredText } from "../../core/storage/postgres-client.ts";
import type { QueryWords } from "../../search/analysis/analyze-query.ts";
import { DOMAIN_SIGN, NAME_SIGN } from "../../search/lexical/names.ts";
import type { NearTerm } from "../../search/lexical/near-terms.ts";
import { type Dictionary, weighWords } from "../../search/lexical/weigh-query.ts";
import type { IndexTables } from "./index-tables.ts";
import { nearWords } from "./near-words.ts";
import { type TermPostings, unpackPostings } from "./posting-blocks.ts";

/** The dictionary of one caller. */
export interface CallerDictionary extends Dictionary {
  /** Whether the caller may see every document. */
  readonly seesAll: boolean;
  /** Postings by term, including documents that the caller may not see. */
  readonly postings: ReadonlyMap<string, TermPostings>;
}

/** Fetches all data that these queries need: statistics of visible documents, and postings of relevant terms. */
export async function askDictionary(
  tables: IndexTables,
  queries: readonly QueryWords[],
  scopes: readonly string[],
): Promise<CallerDictionary> {
  const termSet = new Set<string>();
  const nothingKnown = { size: 0, near: () => [], mayHaveName: () => true, isSpeltSo: () => false };
  weighAll(queries, {
    ...nothingKnown,
    frequencyOf: (term) => {
      termSet.add(term);
      return 0;
    },
  });
  const statistics = await askTerms(tables, [...termSet], scopes);
  const unknown = new Set<string>();
  weighAll(queries, {
    ...statistics,
    near: (word) => {
      unknown.add(word);
      return [];
    },
  });
  if (unknown.size === 0) return { ...statistics, near: () => [] };
  const near = new Map<string, readonly NearTerm[]>();
  const frequencies = new Map<string, number>();
  for (const word of unknown) {
    const nearest = await nearWords(tables, word, scopes);
    near.set(word, nearest);
    for (const { term, documents } of nearest) frequencies.set(term, documents);
  }
  const { postings } = await askTerms(tables, [...frequencies.keys()], scopes);
  return {
    ...statistics,
    near: (word) => near.get(word) ?? [],
    frequencyOf: (term) => frequencies.get(term) ?? statistics.frequencyOf(term),
    postings: new Map([...statistics.postings, ...postings]),
  };
}

function weighAll(queries: readonly QueryWords[], dictionary: Dictionary): void {
  for (const words of queries) weighWords(words, dictionary);
}

/** Fetches, in one round trip, how many documents have each term, its postings, and the spellings of names. */
async function askTerms(
  { names, query }: IndexTables,
  terms: readonly string[],
  scopes: readonly string[],
): Promise<Omit<CallerDictionary, "near">> {
  const stored = terms.map(toStoredText);
  const rows = await query(`select * from ${names.askFunction}($1::text[], $2::text[], $3::text[])`, [
    stored,
    stored.filter(isName),
    scopes.map(toStoredText),
  ]);
  const frequencies = new Map<string, number>();
  const postings = new Map<string, TermPostings>();
  const spellings = new Set<string>();
  let size = 0;
  let all = 0;
  for (const row of rows) {
    if (typeof row.term !== "string") {
      [size, all] = [Number(row.documents), Number(row.spelling)];
      continue;
    }
    const term = fromStoredText(row.term);
    if (row.packed !== null) postings.set(term, unpackPostings(row));
    else if (row.spelling !== null) spellings.add(`${term} ${row.spelling}`);
    else frequencies.set(term, Number(row.documents));
  }
  const seesAll = size === all;
  return {
    size,
    seesAll,
    postings,
    frequencyOf: (term) => frequencies.get(term) ?? 0,
    mayHaveName: () => true,
    isSpeltSo: (key, print) => {
      const term = NAME_SIGN + key;
      return seesAll
        ? (postings.get(term)?.impacts.includes(print) ?? false)
        : spellings.has(`${term} ${print}`);
    },
  };
}

function isName(term: string): boolean {
  return term.startsWith(NAME_SIGN) && !term.startsWith(DOMAIN_SIGN);
}
