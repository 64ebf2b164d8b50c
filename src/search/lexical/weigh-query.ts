import type { QueryWords } from "../analysis/analyze-query.ts";
import { FULL_IMPACT, WORDS } from "../ranking/tuning.ts";
import type { SeenSegment } from "./live-segment.ts";
import { DOMAIN_SIGN, NAME_SIGN, type NameSpan, nameSpans, spellingPrint } from "./names.ts";
import { type NearTerm, nearTerms } from "./near-terms.ts";
import type { PostingList } from "./score-segment.ts";
import type { Segment } from "./segment.ts";

/** A term of a query and its score for full impact. */
export interface WeighedTerm {
  readonly text: string;
  /** The term as shown to people. */
  readonly label: string;
  readonly weight: number;
  /** For a whole name: the print of its spelling in the query, and the impact of documents with another spelling. */
  readonly name?: { readonly print: number; readonly otherwise: number };
}

export interface Weighing {
  /** Heaviest first, ties by text: the order in which every score is summed. */
  readonly terms: readonly WeighedTerm[];
  /** Whether the query names a document unambiguously. */
  readonly sureName: boolean;
}

/**
 * Weighs every term of a query by the documents that the caller may see, so that weights reveal nothing about others.
 */
export function weighQuery(words: QueryWords, segments: readonly SeenSegment[]): Weighing {
  return weighWords(words, {
    size: segments.reduce((sum, { size }) => sum + size, 0),
    frequencyOf: (text) => segments.reduce((sum, seen) => sum + frequencyIn(seen, text), 0),
    near: (word) => nearTerms(word, segments),
    mayHaveName: (hash) => segments.some(({ live }) => live.segment.names.mayHave(hash)),
    isSpeltSo: (key, print) => isSpeltSo(key, print, segments),
  });
}

function frequencyIn({ live, frequencyOf }: SeenSegment, text: string): number {
  const term = live.segment.terms.find(text);
  return term < 0 ? 0 : frequencyOf(term);
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

/** The postings of a term. Those of a name have the print of a spelling instead of an impact. */
export function postingsIn(
  segment: Segment,
  { text, weight, name }: WeighedTerm,
): (PostingList & { readonly fields?: Uint8Array }) | undefined {
  const term = segment.terms.find(text);
  if (term < 0) return undefined;
  const { documents, impacts, fields, starts, maxImpacts } = segment;
  const start = starts[term]!;
  const end = starts[term + 1]!;
  if (name === undefined)
    return { documents, impacts, fields, start, end, weight, maxImpact: maxImpacts[term]! };
  return {
    documents: documents.subarray(start, end),
    impacts: impactsOf(impacts.subarray(start, end), name),
    start: 0,
    end: end - start,
    weight,
    maxImpact: FULL_IMPACT,
  };
}

/** Replaces the prints of a name's spellings by impacts. */
export function impactsOf(
  prints: Uint16Array,
  { print, otherwise }: NonNullable<WeighedTerm["name"]>,
): Uint16Array {
  return prints.map((spelling) => (spelling === print ? FULL_IMPACT : otherwise));
}

/** Statistics of documents for weighing, wherever they are stored. */
export interface Dictionary {
  /** How many documents there are. */
  readonly size: number;
  /** How many documents have the term. */
  frequencyOf(term: string): number;
  /** Terms that a word without documents may stand for. */
  near(word: string): readonly NearTerm[];
  /** False only if no document has a name whose key has this hash. */
  mayHaveName(hash: number): boolean;
  /** Whether a document has this name key in the spelling of this print. */
  isSpeltSo(key: string, print: number): boolean;
}

export function weighWords(words: QueryWords, dictionary: Dictionary): Weighing {
  const { size } = dictionary;
  const rarity = (frequency: number): number => Math.log(1 + (size - frequency + 0.5) / (frequency + 0.5));
  const terms: WeighedTerm[] = [];
  const rarities = new Map<string, number>();
  let unknown = 0;
  for (const [text, { weight, joined, foreign }] of words.terms) {
    const frequency = dictionary.frequencyOf(text);
    const inDomains = dictionary.frequencyOf(DOMAIN_SIGN + text);
    const common = rarity(frequency + Math.min(inDomains, WORDS.domainShare * size));
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
  const all = [...terms, ...names.terms];
  all.sort((one, other) => other.weight - one.weight || (one.text < other.text ? -1 : 1));
  return { terms: all, sureName: names.sure };
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
    const earlier = byKey.get(span.key);
    if (earlier === undefined || rankOf(span) > rankOf(earlier)) byKey.set(span.key, span);
  }
  return [...byKey.values()];
}

function rankOf(span: NameSpan): number {
  if (span.sure) return 2;
  return span.sureIfSame ? 1 : 0;
}
