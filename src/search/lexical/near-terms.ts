import { boundedDistance } from "../../base/util/nearest.ts";
import { WORDS } from "../ranking/tuning.ts";
import type { SeenSegment } from "./live-segment.ts";

/** An indexed term that an unknown word may stand for. */
export interface NearTerm {
  readonly term: string;
  /** The weight of a match compared with an exact one. */
  readonly worth: number;
}

export const MAX_LOOKED_AT = 256;
const NOT_A_WORD = /[^\p{L}\p{M}]/u;

/** Numbers and very short words have no near terms. */
export function hasNear(word: string): boolean {
  return word.length >= 3 && !NOT_A_WORD.test(word);
}

/** Maximum edit distance of a near term. */
export function editsAllowed(word: string): number {
  return word.length >= 8 ? 2 : word.length >= 4 ? 1 : 0;
}

export function prefixWorth(word: string, term: string): number {
  return WORDS.prefix * (word.length / term.length);
}

export function editsWorth(distance: number): number {
  return distance === 1 ? WORDS.oneEdit : WORDS.twoEdits;
}

/** The terms nearest to a word that no visible document has: terms that start with it, and similar spellings. */
export function nearTerms(word: string, segments: readonly SeenSegment[]): NearTerm[] {
  if (!hasNear(word)) return [];
  const worths = new Map<string, number>();
  for (const seen of segments) addPrefixed(word, seen, worths);
  // Each segment returned its first terms in dictionary order; keep the first of all of them.
  for (const term of [...worths.keys()].sort().slice(MAX_LOOKED_AT)) worths.delete(term);
  for (const seen of segments) addMisspelt(word, seen, worths);
  const order = Array.from(worths, ([term, worth]): NearTerm => ({ term, worth }));
  order.sort((one, other) => other.worth - one.worth || (one.term < other.term ? -1 : 1));
  return order.slice(0, WORDS.maxNear);
}

function addPrefixed(word: string, seen: SeenSegment, worths: Map<string, number>): void {
  const { terms } = seen.live.segment;
  let remaining = MAX_LOOKED_AT;
  for (let term = terms.lowerBound(word); term < terms.size && remaining > 0; term++) {
    if (!terms.startsWith(term, word)) return;
    if (seen.frequencyOf(term) === 0) continue;
    remaining--;
    const text = terms.get(term);
    worths.set(text, prefixWorth(word, text));
  }
}

function addMisspelt(word: string, seen: SeenSegment, worths: Map<string, number>): void {
  const allowed = editsAllowed(word);
  if (allowed === 0) return;
  for (const term of seen.live.speltLike(word, allowed)) {
    if (seen.frequencyOf(term) === 0) continue;
    const text = seen.live.segment.terms.get(term);
    const distance = boundedDistance(word, text, allowed);
    if (distance === undefined) continue;
    worths.set(text, Math.max(worths.get(text) ?? 0, editsWorth(distance)));
  }
}
