import type { Kind, SearchDocument } from "../port/search-index.ts";
import { hashUnits, NAME_SIGN } from "./names.ts";

/** The properties for filters. Documents with equal properties share one. */
export interface Facet {
  readonly domain: string;
  readonly kind: Kind;
  readonly category: string;
  readonly tags: readonly string[];
  readonly scopes: readonly string[];
}

/** An immutable part of the index. Documents are numbered by id. */
export interface Segment {
  readonly ids: StringTable;
  /** Sorted dictionary. The postings of term `t` are `starts[t] .. starts[t + 1]`. */
  readonly terms: StringTable;
  readonly starts: Uint32Array;
  /** Document numbers, ascending within a term. */
  readonly documents: Uint32Array;
  readonly impacts: Uint16Array;
  readonly fields: Uint8Array;
  /** The greatest impact of each term. */
  readonly maxImpacts: Uint16Array;
  /** Hashes of the names in the dictionary. */
  readonly names: HashBits;
  readonly facets: readonly Facet[];
  /** The facet of each document. */
  readonly facetOf: Uint32Array;
}

/** Numbers the distinct facets of documents. */
export class FacetTable {
  readonly facets: Facet[] = [];
  private readonly numbers = new Map<string, number>();

  intern(document: Pick<SearchDocument, "domain" | "kind" | "category" | "tags" | "scopes">): number {
    const { domain, kind, category = "" } = document;
    const tags = distinct(document.tags);
    const scopes = distinct(document.scopes);
    const key = JSON.stringify([domain, kind, category, tags, scopes]);
    const number = this.numbers.get(key);
    if (number !== undefined) return number;
    this.numbers.set(key, this.facets.length);
    this.facets.push({ domain, kind, category, tags, scopes });
    return this.facets.length - 1;
  }
}

function distinct(words: readonly string[]): readonly string[] {
  return words.length < 2 ? words : [...new Set(words)].sort();
}

/** Sorted distinct strings in one block of UTF-16 units (bytes if Latin-1 suffices), found by binary search. */
export class StringTable {
  readonly units: Uint8Array | Uint16Array;
  /** One more than the number of strings; string `i` is `units[offsets[i] .. offsets[i + 1]]`. */
  readonly offsets: Uint32Array;
  private readonly bytes: Buffer;

  constructor(units: Uint8Array | Uint16Array, offsets: Uint32Array) {
    this.units = units;
    this.offsets = offsets;
    this.bytes = Buffer.from(units.buffer, units.byteOffset, units.byteLength);
  }

  /** `sorted` must be in code unit order (as from `Array.prototype.sort`) without duplicates. */
  static from(sorted: readonly string[]): StringTable {
    const offsets = new Uint32Array(sorted.length + 1);
    let total = 0;
    let wide = 0;
    for (let at = 0; at < sorted.length; at++) {
      const text = sorted[at]!;
      for (let unit = 0; unit < text.length; unit++) wide |= text.charCodeAt(unit);
      total += text.length;
      offsets[at + 1] = total;
    }
    const units = wide > 0xff ? new Uint16Array(total) : new Uint8Array(total);
    let to = 0;
    for (const text of sorted)
      for (let unit = 0; unit < text.length; unit++) units[to++] = text.charCodeAt(unit);
    return new StringTable(units, offsets);
  }

  get size(): number {
    return this.offsets.length - 1;
  }

  get(index: number): string {
    const start = this.offsets[index]!;
    const end = this.offsets[index + 1]!;
    const width = this.units.BYTES_PER_ELEMENT;
    return this.bytes.toString(width === 1 ? "latin1" : "utf16le", start * width, end * width);
  }

  /** The index of the string, or -1. */
  find(text: string): number {
    const at = this.lowerBound(text);
    return at < this.size && this.compare(at, text) === 0 ? at : -1;
  }

  /** The first index whose string is not before `text`. */
  lowerBound(text: string): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(middle, text) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  startsWith(index: number, prefix: string): boolean {
    const start = this.offsets[index]!;
    if (this.offsets[index + 1]! - start < prefix.length) return false;
    for (let at = 0; at < prefix.length; at++) {
      if (this.units[start + at] !== prefix.charCodeAt(at)) return false;
    }
    return true;
  }

  private compare(index: number, text: string): number {
    const start = this.offsets[index]!;
    const length = this.offsets[index + 1]! - start;
    const shared = Math.min(length, text.length);
    for (let at = 0; at < shared; at++) {
      const difference = this.units[start + at]! - text.charCodeAt(at);
      if (difference !== 0) return difference;
    }
    return length - text.length;
  }
}

const BITS_PER_STRING = 16;
/** Sorts after every term that starts with the sign of names. */
const AFTER_NAMES = String.fromCharCode(NAME_SIGN.charCodeAt(0) + 1);

/** A set of string hashes, with false positives but no false negatives. */
export class HashBits {
  readonly words: Uint32Array;

  constructor(words: Uint32Array) {
    this.words = words;
  }

  /** The strings of a table. */
  static ofAll(table: StringTable): HashBits {
    return HashBits.of(table, 0, table.size, 0);
  }

  /** The names of a dictionary, without their sign. */
  static ofNames(terms: StringTable): HashBits {
    return HashBits.of(terms, terms.lowerBound(NAME_SIGN), terms.lowerBound(AFTER_NAMES), NAME_SIGN.length);
  }

  private static of({ units, offsets }: StringTable, from: number, to: number, skip: number): HashBits {
    let words = 2;
    while (words * 32 < (to - from) * BITS_PER_STRING) words *= 2;
    const bits = new HashBits(new Uint32Array(words));
    for (let at = from; at < to; at++) {
      const bit = bits.bitOf(hashUnits(units, offsets[at]! + skip, offsets[at + 1]!));
      bits.words[bit >>> 5]! |= 1 << (bit & 31);
    }
    return bits;
  }

  mayHave(hash: number): boolean {
    return hasBit(this.words, this.bitOf(hash));
  }

  /** The low bits of FNV alone are poorly distributed. */
  private bitOf(hash: number): number {
    return (Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 1) & (this.words.length * 32 - 1);
  }
}

export type SegmentParts = ReturnType<typeof toParts>;

/** A segment without methods, for a file or another thread. */
export function toParts({ ids, terms, names, ...arrays }: Segment) {
  return {
    ...arrays,
    idUnits: ids.units,
    idOffsets: ids.offsets,
    termUnits: terms.units,
    termOffsets: terms.offsets,
    nameWords: names.words,
  };
}

export function fromParts(parts: SegmentParts): Segment {
  const { idUnits, idOffsets, termUnits, termOffsets, nameWords, ...arrays } = parts;
  return {
    ...arrays,
    ids: new StringTable(idUnits, idOffsets),
    terms: new StringTable(termUnits, termOffsets),
    names: new HashBits(nameWords),
  };
}

/** False beyond the end of the bits. */
export function hasBit(bits: Uint32Array, at: number): boolean {
  return ((bits[at >>> 5]! >>> (at & 31)) & 1) === 1;
}

/** A larger copy of the values. */
export function lengthened<T extends Float32Array | Float64Array | Uint8Array | Uint16Array | Uint32Array>(
  values: T,
  length: number,
): T {
  const larger = new (values.constructor as new (length: number) => T)(length);
  larger.set(values);
  return larger;
}

/** The position of a document in the ascending `documents[start .. end]`, or -1. */
export function indexIn(documents: Uint32Array, start: number, end: number, document: number): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (documents[middle]! < document) low = middle + 1;
    else high = middle;
  }
  return low < end && documents[low] === document ? low : -1;
}
