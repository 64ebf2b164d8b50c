import type { SearchFilter } from "../port/search-index.ts";
import { countBits } from "./count-bits.ts";
import { facetTest, filterMask } from "./filter-mask.ts";
import { HashBits } from "./hash-bits.ts";
import { indexIn, LOOK_UP_COST } from "./index-in.ts";
import { DOMAIN_SIGN } from "./name-key.ts";
import type { Segment } from "./segment.ts";
import { indexSpellings, type SpellingIndex } from "./spelling-index.ts";

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
