import type { SearchFilter } from "../port/search-index.ts";
import { NAME_SIGN } from "./names.ts";
import { type Facet, HashBits, hasBit, type Segment, type StringTable } from "./segment.ts";

const MAX_MASKS = 64;

/** The documents of a segment that one caller may see. */
export interface SeenSegment {
  readonly live: LiveSegment;
  /** Number of visible live documents. */
  readonly size: number;
  /** Number of them that have the term. */
  frequencyOf(term: number): number;
  has(document: number): boolean;
}

/** A segment with its mutable state: deleted documents, and values computed on first use. */
export class LiveSegment {
  readonly segment: Segment;
  /** One bit for each deleted document. */
  readonly dead: Uint32Array;
  /** The deleted documents in order of deletion. */
  readonly gone: number[] = [];
  private readonly masks = new Map<string, Uint32Array | null>();
  private idBits: HashBits | undefined;
  private letters: Uint32Array | undefined;

  constructor(segment: Segment) {
    this.segment = segment;
    this.dead = new Uint32Array(Math.ceil(segment.ids.size / 32));
    // Set the bits after the last document, so that they never count as live.
    if (segment.ids.size % 32 > 0) this.dead[this.dead.length - 1] = -1 << (segment.ids.size % 32);
  }

  get liveCount(): number {
    return this.segment.ids.size - this.gone.length;
  }

  /** The number of the live document with this id, or -1. */
  find(id: string): number {
    const number = this.segment.ids.find(id);
    return number >= 0 && !hasBit(this.dead, number) ? number : -1;
  }

  /** Marks a live document as deleted. */
  markDeleted(document: number): void {
    const bit = 1 << (document & 31);
    this.dead[document >>> 5]! |= bit;
    this.gone.push(document);
    for (const [key, mask] of this.masks) {
      if (mask === null) this.masks.delete(key);
      else mask[document >>> 5]! &= ~bit;
    }
  }

  /** The documents of the segment that a caller with these scopes may see, with statistics of those alone. */
  seenBy(scopes: readonly string[], key: string): SeenSegment {
    const { ids, starts, documents } = this.segment;
    const mask = this.maskFor({ scopes }, key);
    if (mask === null) {
      const frequencyOf = (term: number) => starts[term + 1]! - starts[term]!;
      return { live: this, size: ids.size, frequencyOf, has: () => true };
    }
    return {
      live: this,
      size: mask.reduce((sum, word) => sum + countBits(word), 0),
      frequencyOf: (term) => {
        let count = 0;
        for (let at = starts[term]!; at < starts[term + 1]!; at++) if (hasBit(mask, documents[at]!)) count++;
        return count;
      },
      has: (document) => hasBit(mask, document),
    };
  }

  /** A bit for each document that matches; null if all match. */
  maskFor(filter: SearchFilter, key: string): Uint32Array | null {
    const cached = this.masks.get(key);
    if (cached !== undefined) return cached;
    if (this.masks.size >= MAX_MASKS) this.masks.clear();
    const { facets, facetOf, ids } = this.segment;
    let mask = facetMask(facets, facetOf, ids.size, filter) ?? null;
    if (this.gone.length > 0) mask = this.dead.map((word, at) => ~word & (mask?.[at] ?? ~0));
    this.masks.set(key, mask);
    return mask;
  }

  /** False if no document has an id with this hash; true if one may. The first call reads all ids. */
  mayHaveId(hash: number): boolean {
    this.idBits ??= HashBits.ofAll(this.segment.ids);
    return this.idBits.mayHave(hash);
  }

  /** Terms that may be within `edits` of the word, by length and letters. */
  speltLike(word: string, edits: number): number[] {
    const { offsets, units, size } = this.segment.terms;
    const nameSign = NAME_SIGN.charCodeAt(0);
    const letters = lettersOf(word);
    this.letters ??= lettersIn(this.segment.terms);
    const alike: number[] = [];
    for (let term = 0; term < size; term++) {
      if (Math.abs(offsets[term + 1]! - offsets[term]! - word.length) > edits) continue;
      if (countBits(this.letters[term]! ^ letters) > 2 * edits || units[offsets[term]!] === nameSign)
        continue;
      alike.push(term);
    }
    return alike;
  }
}

/** Counts the set bits of a 32-bit word. */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The set of a word's letters as 32 bits, to exclude words that differ in too many letters. */
export function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

/** `lettersOf` for each string of a table. */
function lettersIn({ size, offsets, units }: StringTable): Uint32Array {
  const letters = new Uint32Array(size);
  for (let term = 0; term < size; term++) {
    for (let at = offsets[term]!; at < offsets[term + 1]!; at++) letters[term]! |= 1 << (units[at]! & 31);
  }
  return letters;
}

/** Equal for filters that match the same documents. */
export function filterKey(filter: SearchFilter): string {
  return JSON.stringify([
    filter.scopes.toSorted(),
    filter.domain ?? null,
    filter.kinds ?? null,
    filter.categories ?? null,
    filter.tags ?? null,
  ]);
}

/** A bit for each of the first `count` documents that matches; undefined if all match. */
export function facetMask(
  facets: readonly Facet[],
  facetOf: Uint32Array,
  count: number,
  filter: SearchFilter,
): Uint32Array | undefined {
  const passes = facetTest(filter);
  const passing = Uint8Array.from(facets, (facet) => (passes(facet) ? 1 : 0));
  if (passing.every((bit) => bit === 1)) return undefined;
  const mask = new Uint32Array(Math.ceil(count / 32));
  for (let at = 0; at < count; at++) mask[at >>> 5]! |= passing[facetOf[at]!]! << (at & 31);
  return mask;
}

/** Returns whether documents with a facet match. */
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
