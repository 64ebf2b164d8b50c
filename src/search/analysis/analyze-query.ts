import { pushTerms, type Term } from "./analyze.ts";
import { foldAccents } from "./fold.ts";
import { type Compound, splitCompounds } from "./split-compounds.ts";
import { isStopWord } from "./stop-words.ts";

/** A query is cut to this many UTF-16 units: what comes after says little that was not said before. */
export const MAX_QUERY = 1024;

export interface QueryWords {
  /** The query with accents folded. */
  readonly text: string;
  readonly compounds: readonly Compound[];
  /** Each distinct term, in the order of the query. */
  readonly terms: ReadonlyMap<string, WordWeight>;
}

export interface WordWeight {
  readonly weight: number;
  /** Only the joined form of words that are there too. */
  readonly joined: boolean;
  /** A word of another language, which is not misspelt. */
  readonly foreign: boolean;
}

/** A query as it is searched by words. */
export interface WordQuery {
  readonly words: string;
  /** Words that are not English, and so not misspelt: folded, in lower case. */
  readonly foreign?: ReadonlySet<string>;
}

/** Numbers are mostly values, not what is asked for. */
const NUMBER_WEIGHT = 0.5;
const NUMBER = /^\p{N}+$/u;

/** Cuts a query to the length that is looked at, never inside a character. */
export function cutQuery(query: string): string {
  if (query.length <= MAX_QUERY) return query;
  const last = query.charCodeAt(MAX_QUERY - 1);
  return query.slice(0, last >= 0xd800 && last <= 0xdbff ? MAX_QUERY - 1 : MAX_QUERY);
}

/** The words of a query that `cutQuery` has cut. */
export function analyzeQuery(query: string, foreign?: ReadonlySet<string>): QueryWords {
  const text = foldAccents(query);
  const compounds = splitCompounds(text, MAX_QUERY);
  const found: Term[] = [];
  for (const compound of compounds) pushTerms(compound, found);
  const kept = found.filter((term) => !isStopWord(term.word));
  const terms = new Map<string, WordWeight>();
  for (const { text: term, word, joined } of kept.length > 0 ? kept : found) {
    if (terms.has(term)) continue;
    const weight = NUMBER.test(word) ? NUMBER_WEIGHT : 1;
    terms.set(term, { weight, joined, foreign: foreign?.has(word) ?? false });
  }
  return { text, compounds, terms };
}
