import { MAX_TERM } from "../analysis/analyze.ts";
import { countBits } from "./count-bits.ts";
import { NAME_SIGN } from "./name-key.ts";
import type { StringTable } from "./string-table.ts";

/** The analysed terms of a dictionary grouped by length, each with the set of its letters as 32 bits. */
export class SpellingIndex {
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

export function indexSpellings({ size, offsets, units }: StringTable): SpellingIndex {
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
