import { QUERY } from "../ranking/tuning.ts";
import { isStopWord, pushTerms, type Term } from "./analyze.ts";
import { type Compound, foldAccents, splitCompounds } from "./split-compounds.ts";

export interface QueryWords {
  /** The query with accents folded. */
  readonly text: string;
  readonly compounds: readonly Compound[];
  /** Each distinct term, in query order. */
  readonly terms: ReadonlyMap<string, WordWeight>;
}

export interface WordWeight {
  readonly weight: number;
  /** Whether only the joined form of words occurs, which are separate terms too. */
  readonly joined: boolean;
  /** Whether it is a word of another language rather than a misspelt one. */
  readonly foreign: boolean;
}

/** A query for search by words. */
export interface WordQuery {
  readonly words: string;
  /** Words that are not English and so not misspelt: folded, in lower case. */
  readonly foreign?: ReadonlySet<string>;
}

const NUMBER = /^\p{N}+$/u;

/** Cuts a query to the length that search reads, never inside a character. */
export function cutQuery(query: string): string {
  if (query.length <= QUERY.maxLength) return query;
  const last = query.charCodeAt(QUERY.maxLength - 1);
  return query.slice(0, last >= 0xd800 && last <= 0xdbff ? QUERY.maxLength - 1 : QUERY.maxLength);
}

/** The distinct terms of a query or another text. */
export function termsOf(text: string): string[] {
  return [...analyzeQuery(cutQuery(text)).terms.keys()];
}

/** Analyses a query after `cutQuery`. */
export function analyzeQuery(query: string, foreign?: ReadonlySet<string>): QueryWords {
  const text = foldAccents(query);
  const compounds = splitCompounds(text, QUERY.maxLength);
  const all: Term[] = [];
  for (const compound of compounds) pushTerms(compound, all);
  const significant = all.filter((term) => !isStopWord(term.word));
  const terms = new Map<string, WordWeight>();
  for (const { text: term, word, joined } of significant.length > 0 ? significant : all) {
    if (terms.has(term)) continue;
    const weight = NUMBER.test(word) ? QUERY.numberWeight : 1;
    terms.set(term, { weight, joined, foreign: foreign?.has(word) ?? false });
  }
  return { text, compounds, terms };
}
