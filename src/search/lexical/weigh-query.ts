import type { QueryWords } from "../analysis/analyze-query.ts";
import { FULL_IMPACT } from "./fields.ts";
import type { LiveSegment, SeenSegment } from "./live-segment.ts";
import { NAME_SIGN } from "./name-key.ts";
import { type NearTerm, nearTerms } from "./near-terms.ts";
import type { PostingList } from "./score-segment.ts";
import { type WeighedTerm, weighWords } from "./weigh-words.ts";

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
 * others. `nearCache` and `entries` belong to these documents and are good until they change.
 */
export function weighQuery(
  words: QueryWords,
  segments: readonly SeenSegment[],
  nearCache: Map<string, readonly NearTerm[]>,
  entries: TermEntries = new Map(),
): Weighing {
  const entryOf = (text: string): Entry => {
    const known = entries.get(text) ?? lookUp(text, segments);
    entries.set(text, known);
    return known;
  };
  const weighed = weighWords(words, {
    size: segments.reduce((sum, { size }) => sum + size, 0),
    frequencyOf: (term) => entryOf(term).frequency,
    near: (word) => cachedNear(word, segments, nearCache),
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
export type TermEntries = Map<string, Entry>;

interface Entry {
  /** Seen documents that have the term. */
  readonly frequency: number;
  /** Its number in each segment's dictionary, or -1. */
  readonly numbers: readonly number[];
}

function lookUp(text: string, segments: readonly SeenSegment[]): Entry {
  let frequency = 0;
  const numbers = segments.map((seen) => {
    const number = seen.live.termNumber(text);
    if (number >= 0) frequency += seen.frequencyOf(number);
    return number;
  });
  return { frequency, numbers };
}

function cachedNear(
  text: string,
  segments: readonly SeenSegment[],
  cache: Map<string, readonly NearTerm[]>,
): readonly NearTerm[] {
  const known = cache.get(text);
  if (known !== undefined) return known;
  if (cache.size >= MAX_CACHED) cache.clear();
  const near = nearTerms(text, segments);
  cache.set(text, near);
  return near;
}

const MAX_CACHED = 1024;

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
