import { hashUnits, NAME_SIGN } from "./name-key.ts";
import type { StringTable } from "./string-table.ts";

const BITS_PER_STRING = 16;
/** Behind every term that starts with the sign of names. */
const AFTER_NAMES = String.fromCharCode(NAME_SIGN.charCodeAt(0) + 1);

/** A set of the hashes of strings that may hold more than was added, never less. */
export class HashBits {
  readonly words: Uint32Array;

  constructor(words: Uint32Array) {
    this.words = words;
  }

  /** Holds all strings of a table. */
  static ofAll({ size, units, offsets }: StringTable): HashBits {
    const bits = HashBits.withRoomFor(size);
    for (let at = 0; at < size; at++) bits.add(hashUnits(units, offsets[at]!, offsets[at + 1]!));
    return bits;
  }

  /** Holds all names of a dictionary. */
  static ofNames(terms: StringTable): HashBits {
    const bits = HashBits.withRoomFor(countNames(terms));
    const from = terms.lowerBound(NAME_SIGN);
    for (let term = from; term < from + countNames(terms); term++) bits.addTerm(terms, term);
    return bits;
  }

  /** Empty, with room for that many strings. */
  static withRoomFor(count: number): HashBits {
    let words = 2;
    while (words * 32 < count * BITS_PER_STRING) words *= 2;
    return new HashBits(new Uint32Array(words));
  }

  /** Adds the name behind its sign in a dictionary. */
  addTerm({ units, offsets }: StringTable, term: number): void {
    this.add(hashUnits(units, offsets[term]! + NAME_SIGN.length, offsets[term + 1]!));
  }

  private add(hash: number): void {
    const bit = this.bitOf(hash);
    this.words[bit >>> 5]! |= 1 << (bit & 31);
  }

  mayHave(hash: number): boolean {
    const bit = this.bitOf(hash);
    return ((this.words[bit >>> 5]! >>> (bit & 31)) & 1) === 1;
  }

  /** FNV's low bits alone are a poor choice of bit. */
  private bitOf(hash: number): number {
    return (Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 1) & (this.words.length * 32 - 1);
  }
}

/** How many terms of a dictionary stand for names. */
export function countNames(terms: StringTable): number {
  return terms.lowerBound(AFTER_NAMES) - terms.lowerBound(NAME_SIGN);
}
