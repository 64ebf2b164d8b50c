import type { QueryWords } from "../analysis/analyze-query.ts";
import { FULL_IMPACT, WORDS } from "../ranking/tuning.ts";
import type { LiveSegment, SeenSegment } from "./live-segment.ts";
import { DOMAIN_SIGN, NAME_SIGN, type NameSpan, nameSpans, spellingPrint } from "./names.ts";
import { type NearTerm, nearTerms } from "./near-terms.ts";
import type { PostingList } from "./score-segment.ts";

/** A term as it is scored. */
export interface QueryTerm {
  readonly text: string;
  /** The term as it is shown to people. */
  readonly label: string;
  readonly weight: number;
  /** Stands for a whole name in the query. */
  readonly isName: boolean;
  /** Its postings in the segment at that place of those that were weighed. */
  listIn(live: LiveSegment, place: number): (PostingList & { readonly fields?: Uint8Array }) | undefined;
}

export interface Weighing {
  /** Heaviest first, ties by text: the order in which every score is summed. */
  readonly terms: readonly QueryTerm[];
  /** The score of a document that has every word to the full, names left out. */
  readonly best: number;
  /** The query names a document in a way that cannot be meant otherwise. */
  readonly sureName: boolean;
}

/**
 * Gives every term of a query its weight among the documents that the caller may see, so that no weight tells of
 * others. `entries` belong to these documents and are good until they change.
 */
export function weighQuery(
  words: QueryWords,
  segments: readonly SeenSegment[],
  entries: TermEntries = new Map(),
): Weighing {
  const entryOf = (text: string): WeightEntry => {
    const known = entries.get(text) ?? lookUp(text, segments);
    entries.set(text, known);
    return known;
  };
  const weighed = weighWords(words, {
    size: segments.reduce((sum, { size }) => sum + size, 0),
    frequencyOf: (term) => entryOf(term).frequency,
    near: (word) => nearTerms(word, segments),
    mayHaveName: (hash) => segments.some(({ live }) => live.mayHaveName(hash)),
    isSpeltSo: (key, print) => isSpeltSo(key, print, segments),
  });
  const terms = weighed.terms.map((term) =>
    term.name === undefined ? wordTerm(term, entryOf(term.text).numbers) : nameTerm(term, term.name),
  );
  terms.sort((one, other) => other.weight - one.weight || (one.text < other.text ? -1 : 1));
  return { ...weighed, terms };
}

function isSpeltSo(key: string, print: number, segments: readonly SeenSegment[]): boolean {
  return segments.some(({ live: { segment }, has }) => {
    const term = segment.terms.find(NAME_SIGN + key);
    if (term < 0) return false;
    for (let at = segment.starts[term]!; at < segment.starts[term + 1]!; at++) {
      if (segment.impacts[at] === print && has(segment.documents[at]!)) return true;
    }
    return false;
  });
}

/** Terms that were looked up, for queries that share them. */
export type TermEntries = Map<string, WeightEntry>;

interface WeightEntry {
  /** Seen documents that have the term. */
  readonly frequency: number;
  /** Its number in each segment's dictionary, or -1. */
  readonly numbers: readonly number[];
}

function lookUp(text: string, segments: readonly SeenSegment[]): WeightEntry {
  let frequency = 0;
  const numbers = segments.map((seen) => {
    const number = seen.live.termNumber(text);
    if (number >= 0) frequency += seen.frequencyOf(number);
    return number;
  });
  return { frequency, numbers };
}

function wordTerm({ text, label, weight }: WeighedTerm, numbers: readonly number[]): QueryTerm {
  return {
    text,
    label,
    weight,
    isName: false,
    listIn({ segment }, place) {
      const term = numbers[place]!;
      if (term < 0) return undefined;
      return {
        documents: segment.documents,
        impacts: segment.impacts,
        fields: segment.fields,
        start: segment.starts[term]!,
        end: segment.starts[term + 1]!,
        weight,
        maxImpact: segment.maxImpacts[term]!,
      };
    },
  };
}

/** Documents of that name, whose postings have the print of a spelling in the place of an impact. */
function nameTerm(
  { text, label, weight }: WeighedTerm,
  { print, otherwise }: { readonly print: number; readonly otherwise: number },
): QueryTerm {
  return {
    text,
    label,
    weight,
    isName: true,
    listIn({ segment }) {
      const term = segment.terms.find(text);
      if (term < 0) return undefined;
      const start = segment.starts[term]!;
      const end = segment.starts[term + 1]!;
      const impacts = segment.impacts
        .subarray(start, end)
        .map((spelling) => (spelling === print ? FULL_IMPACT : otherwise));
      return {
        documents: segment.documents.subarray(start, end),
        impacts,
        start: 0,
        end: end - start,
        weight,
        maxImpact: FULL_IMPACT,
      };
    },
  };
}

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

interface WeighedWords {
  readonly terms: readonly WeighedTerm[];
  /** The score of a document that has every word to the full, names left out. */
  readonly best: number;
  /** The query names a document in a way that cannot be meant otherwise. */
  readonly sureName: boolean;
}

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
    const common = rarity(frequency + Math.min(inDomains, WORDS.domainShare * size));
    if (!joined) best += weight * common;
    if (frequency > 0) {
      rarities.set(text, common);
      terms.push({ text, label: text, weight: weight * common });
    }
    if (inDomains > 0) {
      terms.push({ text: DOMAIN_SIGN + text, label: text, weight: weight * common });
    }
    if (frequency === 0 && inDomains === 0 && !joined && !foreign && unknown++ < WORDS.maxUnknown) {
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
    plain: span.terms.reduce((total, term) => total + (rarities.get(term) ?? 0), 0),
  }));
  const wordSum = wordTerms.reduce((total, term) => total + term.weight, 0);
  const sum = spans.reduce((total, { plain }) => total + plain, wordSum);
  let sure = false;
  const terms = spans.map(({ span, plain }): WeighedTerm => {
    // A sure name outweighs all words together, and the same spelling all of that once more.
    const same = span.sure || span.sureIfSame ? WORDS.sureName * sum + 1 : plain;
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
