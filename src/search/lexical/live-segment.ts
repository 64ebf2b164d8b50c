import { MAX_TERM } from "../analysis/analyze.ts";
import type { SearchFilter } from "../port/search-index.ts";
import { DOMAIN_SIGN, NAME_SIGN } from "./names.ts";
import { type Facet, HashBits, indexIn, LOOK_UP_COST, type Segment, type StringTable } from "./segment.ts";

const MAX_MASKS = 64;
const MAX_COUNTS = 65_536;

/** The documents of a segment that one caller may see. */
export interface SeenSegment {
  readonly live: LiveSegment;
  /** How many live documents are seen. */
  readonly size: number;
  /** How many of them have the term. */
  frequencyOf(term: number): number;
  has(document: number): boolean;
}

/** A segment with what changes beside it: which documents are gone, and what is worked out on first use. */
export class LiveSegment {
  readonly segment: Segment;
  liveCount: number;
  /** One bit for each document that is gone. */
  private readonly dead: Uint32Array;
  /** The same documents, in the order in which they went. */
  private readonly deadList: number[] = [];
  /** For terms that were asked about: how many documents had gone then, and how many of those had the term. */
  private readonly deadCounts = new Map<number, { gone: number; had: number }>();
  private masks = new Map<string, Uint32Array | null>();
  /** Whether callers of these scopes, by filter key, miss any document. */
  private readonly hiding = new Map<string, boolean>();
  private idBits: HashBits | undefined;
  private spellingIndex: SpellingIndex | undefined;
  private domainTerms: ReadonlyMap<string, number> | undefined;

  constructor(segment: Segment) {
    this.segment = segment;
    this.liveCount = segment.ids.size;
    this.dead = new Uint32Array(Math.ceil(segment.ids.size / 32));
  }

  /** The number of the live document with that id, or -1. */
  find(id: string): number {
    const number = this.segment.ids.find(id);
    return number >= 0 && !this.isDead(number) ? number : -1;
  }

  isDead(document: number): boolean {
    return ((this.dead[document >>> 5]! >>> (document & 31)) & 1) === 1;
  }

  /** How many documents are gone. */
  get deadCount(): number {
    return this.deadList.length;
  }

  /** The documents that went after the first `count`. */
  deadSince(count: number): readonly number[] {
    return this.deadList.slice(count);
  }

  copyOfDead(): Uint32Array {
    return this.dead.slice();
  }

  /** Marks a live document as gone. */
  bury(document: number): void {
    const bit = 1 << (document & 31);
    this.dead[document >>> 5]! |= bit;
    this.deadList.push(document);
    this.liveCount--;
    for (const [key, mask] of this.masks) {
      if (mask === null) this.masks.delete(key);
      else mask[document >>> 5]! &= ~bit;
    }
  }

  /** The number of a term in the dictionary, or -1. The few words of domains are looked up apart, which is quicker. */
  termNumber(term: string): number {
    if (!term.startsWith(DOMAIN_SIGN)) return this.segment.terms.find(term);
    this.domainTerms ??= domainTermsOf(this.segment);
    return this.domainTerms.get(term) ?? -1;
  }

  /** How many live documents have the term. What went since it was last asked is looked up now. */
  documentFrequency(term: number): number {
    const { starts, documents } = this.segment;
    const start = starts[term]!;
    const end = starts[term + 1]!;
    const gone = this.deadList.length;
    if (gone === 0) return end - start;
    const before = this.deadCounts.get(term) ?? { gone: 0, had: 0 };
    let { had } = before;
    if ((gone - before.gone) * LOOK_UP_COST * Math.log2(end - start + 1) < end - start) {
      for (let at = before.gone; at < gone; at++)
        if (indexIn(documents, start, end, this.deadList[at]!) >= 0) had++;
    } else if (gone > before.gone) {
      had = 0;
      for (let at = start; at < end; at++) if (this.isDead(documents[at]!)) had++;
    }
    if (this.deadCounts.size >= MAX_COUNTS) this.deadCounts.clear();
    this.deadCounts.set(term, { gone, had });
    return end - start - had;
  }

  /** The part of the segment that a caller of these scopes may see, with statistics of that part alone. */
  seenBy(scopes: readonly string[], key: string): SeenSegment {
    const mask = this.hidesSome(scopes, key) ? this.maskFor({ scopes }, key) : null;
    return {
      live: this,
      size: mask === null ? this.liveCount : mask.reduce((sum, word) => sum + countBits(word), 0),
      frequencyOf: (term) => (mask === null ? this.documentFrequency(term) : this.countIn(mask, term)),
      has: (document) => (mask === null ? !this.isDead(document) : isIn(mask, document)),
    };
  }

  private hidesSome(scopes: readonly string[], key: string): boolean {
    const known = this.hiding.get(key);
    if (known !== undefined) return known;
    if (this.hiding.size >= MAX_MASKS) this.hiding.clear();
    const passes = facetTest({ scopes });
    const hides = !this.segment.facets.every(passes);
    this.hiding.set(key, hides);
    return hides;
  }

  private countIn(mask: Uint32Array, term: number): number {
    const { starts, documents } = this.segment;
    let count = 0;
    for (let at = starts[term]!; at < starts[term + 1]!; at++) if (isIn(mask, documents[at]!)) count++;
    return count;
  }

  /** A bit for each document that may be found; null where all may. */
  maskFor(filter: SearchFilter, key: string): Uint32Array | null {
    const known = this.masks.get(key);
    if (known !== undefined) return known;
    if (this.masks.size >= MAX_MASKS) this.masks.clear();
    const dead = this.liveCount < this.segment.ids.size ? this.dead : undefined;
    const mask = filterMask(this.segment, filter, dead);
    this.masks.set(key, mask);
    return mask;
  }

  /** False where no document has an id of that hash; true where one may have. Costs a look at all ids at first. */
  mayHaveId(hash: number): boolean {
    this.idBits ??= HashBits.ofAll(this.segment.ids);
    return this.idBits.mayHave(hash);
  }

  /** False where no document has a name of that hash; true where one may have. */
  mayHaveName(hash: number): boolean {
    return this.segment.names.mayHave(hash);
  }

  /** The terms by length, to find those that are spelt alike. */
  get spellings(): SpellingIndex {
    this.spellingIndex ??= indexSpellings(this.segment.terms);
    return this.spellingIndex;
  }
}

function domainTermsOf({ terms }: Segment): Map<string, number> {
  const numbers = new Map<string, number>();
  for (let term = terms.lowerBound(DOMAIN_SIGN); term < terms.size; term++) {
    if (!terms.startsWith(term, DOMAIN_SIGN)) break;
    numbers.set(terms.get(term), term);
  }
  return numbers;
}

function isIn(mask: Uint32Array, document: number): boolean {
  return ((mask[document >>> 5]! >>> (document & 31)) & 1) === 1;
}

/** How many bits of a word of 32 are set. */
export function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The analysed terms of a dictionary grouped by length, each with the set of its letters as 32 bits. */
class SpellingIndex {
  private readonly terms: Uint32Array;
  private readonly letters: Uint32Array;
  /** Terms of length `n` are `starts[n] .. starts[n + 1]`. */
  private readonly starts: Uint32Array;

  constructor(terms: Uint32Array, letters: Uint32Array, starts: Uint32Array) {
    this.terms = terms;
    this.letters = letters;
    this.starts = starts;
  }

  /** Terms that length and letters do not rule out as `edits` away from the word. */
  candidates(word: string, edits: number): number[] {
    const found: number[] = [];
    let wanted = 0;
    for (let at = 0; at < word.length; at++) wanted |= 1 << (word.charCodeAt(at) & 31);
    const from = this.starts[Math.max(0, Math.min(MAX_TERM + 1, word.length - edits))]!;
    const to = this.starts[Math.min(MAX_TERM + 1, word.length + edits + 1)]!;
    for (let at = from; at < to; at++) {
      if (countBits(this.letters[at]! ^ wanted) <= 2 * edits) found.push(this.terms[at]!);
    }
    return found;
  }
}

function indexSpellings({ size, offsets, units }: StringTable): SpellingIndex {
  const nameSign = NAME_SIGN.charCodeAt(0);
  const lengthOf = (term: number): number => {
    if (units[offsets[term]!] === nameSign) return -1;
    return Math.min(MAX_TERM, offsets[term + 1]! - offsets[term]!);
  };
  const starts = new Uint32Array(MAX_TERM + 2);
  for (let term = 0; term < size; term++) {
    const length = lengthOf(term);
    if (length >= 0) starts[length + 1]!++;
  }
  for (let length = 0; length <= MAX_TERM; length++) starts[length + 1]! += starts[length]!;
  const next = starts.slice();
  const terms = new Uint32Array(starts[MAX_TERM + 1]!);
  const letters = new Uint32Array(terms.length);
  for (let term = 0; term < size; term++) {
    const length = lengthOf(term);
    if (length < 0) continue;
    const to = next[length]!++;
    terms[to] = term;
    let bits = 0;
    for (let at = offsets[term]!; at < offsets[term + 1]!; at++) bits |= 1 << (units[at]! & 31);
    letters[to] = bits;
  }
  return new SpellingIndex(terms, letters, starts);
}

/** One string for filters that let the same documents through. */
export function filterKey(filter: SearchFilter): string {
  return JSON.stringify([
    filter.scopes.toSorted(),
    filter.domain ?? null,
    filter.kinds ?? null,
    filter.categories ?? null,
    filter.tags ?? null,
  ]);
}

/** A bit for each document that passes and is not dead; null where every one does. */
function filterMask(
  segment: Segment,
  filter: SearchFilter,
  dead: Uint32Array | undefined,
): Uint32Array | null {
  const passing = new Uint8Array(segment.facets.length);
  const passes = facetTest(filter);
  let all = dead === undefined;
  segment.facets.forEach((facet, number) => {
    if (passes(facet)) passing[number] = 1;
    else all = false;
  });
  if (all) return null;
  const mask = new Uint32Array(Math.ceil(segment.ids.size / 32));
  for (let document = 0; document < segment.ids.size; document++) {
    mask[document >>> 5]! |= passing[segment.facetOf[document]!]! << (document & 31);
  }
  if (dead !== undefined) for (let word = 0; word < mask.length; word++) mask[word]! &= ~dead[word]!;
  return mask;
}

/** Tells whether documents of a facet pass. */
export function facetTest(filter: SearchFilter): (facet: Facet) => boolean {
  const scopes = new Set(filter.scopes);
  const kinds = filter.kinds && new Set<string>(filter.kinds);
  const categories = filter.categories && new Set(filter.categories);
  return (facet) => {
    if (!facet.scopes.every((scope) => scopes.has(scope))) return false;
    if (filter.domain !== undefined && facet.domain !== filter.domain) return false;
    if (kinds !== undefined && !kinds.has(facet.kind)) return false;
    if (categories !== undefined && !categories.has(facet.category)) return false;
    return filter.tags === undefined || filter.tags.every((tag) => facet.tags.includes(tag));
  };
}
