import type { QueryWords } from "../analysis/analyze-query.ts";
import { FULL_IMPACT } from "./fields.ts";
import { DOMAIN_SIGN, NAME_SIGN, spellingPrint } from "./name-key.ts";
import { type NameSpan, nameSpans } from "./name-spans.ts";
import type { NearTerm } from "./near-terms.ts";

/** Statistics of the documents that weighing needs, wherever they are kept. */
export interface Dictionary {
  /** How many documents there are. */
  readonly size: number;
  /** How many documents have the term. */
  frequencyOf(term: string): number;
  /** The terms that a word which no document has may stand for. */
  near(word: string): readonly NearTerm[];
  /** False only where no document has a name whose key has that hash. */
  mayHaveName(hash: number): boolean;
  /** True where a document has that name key in the spelling of that print. */
  isSpeltSo(key: string, print: number): boolean;
}

/** A term and what full impact is worth. */
export interface WeighedTerm {
  readonly text: string;
  /** The term as it is shown to people. */
  readonly label: string;
  readonly weight: number;
  /** For a name: the print of its spelling in the query, and the impact of documents that spell it otherwise. */
  readonly name?: { readonly print: number; readonly otherwise: number };
}

export interface WeighedWords {
  readonly terms: readonly WeighedTerm[];
  /** The score of a document that has every word to the full, names left out. */
  readonly best: number;
  /** The query names a document in a way that cannot be meant otherwise. */
  readonly sureName: boolean;
}

/** At most this many unknown words of a query are looked up by their likeness: each costs a walk of the dictionary. */
const MAX_UNKNOWN = 4;
const PLAIN_NAME_WORTH = 1;
/**
 * Documents that have a word from their domain's text only make it less rare up to this share of all documents:
 * a large domain does not drown its own nouns.
 */
const DOMAIN_SHARE = 0.1;

/** Gives every term of a query its weight. */
export function weighWords(words: QueryWords, dictionary: Dictionary): WeighedWords {
  const { size } = dictionary;
  const rarity = (frequency: number): number => Math.log(1 + (size - frequency + 0.5) / (frequency + 0.5));
  const terms: WeighedTerm[] = [];
  const rarities = new Map<string, number>();
  let best = 0;
  let unknown = 0;
  for (const [text, { weight, joined, foreign }] of words.terms) {
    const frequency = dictionary.frequencyOf(text);
    const inDomains = dictionary.frequencyOf(DOMAIN_SIGN + text);
    const common = rarity(frequency + Math.min(inDomains, DOMAIN_SHARE * size));
    if (!joined) best += weight * common;
    if (frequency > 0) {
      rarities.set(text, common);
      terms.push({ text, label: text, weight: weight * common });
    }
    if (inDomains > 0) {
      terms.push({ text: DOMAIN_SIGN + text, label: text, weight: weight * common });
    }
    if (frequency === 0 && inDomains === 0 && !joined && !foreign && unknown++ < MAX_UNKNOWN) {
      for (const { term, worth } of dictionary.near(text)) {
        if (words.terms.has(term)) continue;
        terms.push({
          text: term,
          label: term,
          weight: weight * worth * rarity(dictionary.frequencyOf(term)),
        });
      }
    }
  }
  const names = weighNames(words, dictionary, terms, rarities);
  return { terms: [...terms, ...names.terms], best, sureName: names.sure };
}

function weighNames(
  words: QueryWords,
  dictionary: Dictionary,
  wordTerms: readonly WeighedTerm[],
  rarities: ReadonlyMap<string, number>,
): { terms: WeighedTerm[]; sure: boolean } {
  const spans = spansOf(words, dictionary).map((span) => ({
    span,
    plain: PLAIN_NAME_WORTH * span.terms.reduce((total, term) => total + (rarities.get(term) ?? 0), 0),
  }));
  const wordSum = wordTerms.reduce((total, term) => total + term.weight, 0);
  const sum = spans.reduce((total, { plain }) => total + plain, wordSum);
  let sure = false;
  const terms = spans.map(({ span, plain }): WeighedTerm => {
    // A sure name outweighs all words together, and the same spelling all of that once more.
    const same = span.sure || span.sureIfSame ? 2.1 * sum + 1 : plain;
    const like = span.sure ? same / 2 : plain;
    const print = spellingPrint(span.written);
    if (span.sure || (span.sureIfSame && dictionary.isSpeltSo(span.key, print))) sure = true;
    const otherwise = same > 0 ? Math.max(1, Math.round((FULL_IMPACT * like) / same)) : 1;
    return { text: NAME_SIGN + span.key, label: span.written, weight: same, name: { print, otherwise } };
  });
  return { terms: terms.filter((term) => term.weight > 0), sure };
}

function spansOf(words: QueryWords, dictionary: Dictionary): NameSpan[] {
  const spans = nameSpans(words, {
    mayHave: (hash) => dictionary.mayHaveName(hash),
    has: (key) => dictionary.frequencyOf(NAME_SIGN + key) > 0,
  });
  const byKey = new Map<string, NameSpan>();
  for (const span of spans) {
    const known = byKey.get(span.key);
    if (known === undefined || rankOf(span) > rankOf(known)) byKey.set(span.key, span);
  }
  return [...byKey.values()];
}

function rankOf(span: NameSpan): number {
  if (span.sure) return 2;
  return span.sureIfSame ? 1 : 0;
}
