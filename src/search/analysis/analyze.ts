import { foldAccents } from "./fold.ts";
import { type Compound, splitCompounds } from "./split-compounds.ts";
import { stem } from "./stem.ts";

/** A term is never longer than this many UTF-16 units: what exceeds it is cut. */
export const MAX_TERM = 40;

export interface Term {
  readonly text: string;
  /** The word in lower case before stemming; what stop words are looked up by. */
  readonly word: string;
  /** The joined form of a compound (`getuserinfo`), or one Han character beside its pairs: adds no length. */
  readonly joined: boolean;
}

/** The terms of a text in their order, of at most `limit` written words. Takes any string, in linear time. */
export function analyze(text: string, limit = Number.POSITIVE_INFINITY): Term[] {
  const terms: Term[] = [];
  for (const compound of splitCompounds(foldAccents(text), limit)) pushTerms(compound, terms, limit);
  return terms;
}

/** Adds the terms of one compound. */
export function pushTerms(
  compound: Pick<Compound, "parts" | "unspaced">,
  terms: Term[],
  limit = Number.POSITIVE_INFINITY,
): void {
  if (compound.unspaced) {
    pushBigrams(compound.parts[0]!, terms, limit);
    return;
  }
  let joined = "";
  for (const part of compound.parts) {
    const word = cutTerm(part.toLowerCase());
    terms.push({ text: stem(word), word, joined: false });
    if (joined.length <= MAX_TERM) joined += word;
  }
  if (compound.parts.length < 2 || joined.length > MAX_TERM) return;
  terms.push({ text: stem(joined), word: joined, joined: true });
}

function pushBigrams(run: string, terms: Term[], limit: number): void {
  const characters = Array.from(run.length > limit ? run.slice(0, limit) : run);
  if (characters.length === 1) terms.push({ text: run, word: run, joined: false });
  else pushSingles(characters, terms);
  for (let at = 1; at < characters.length; at++) {
    const bigram = `${characters[at - 1]}${characters[at]}`;
    terms.push({ text: bigram, word: bigram, joined: false });
  }
}

/** A Han character is often a word by itself: a term beside the pairs, as joined forms are beside words. */
function pushSingles(characters: readonly string[], terms: Term[]): void {
  for (const character of characters) {
    if (HAN.test(character)) terms.push({ text: character, word: character, joined: true });
  }
}

const HAN = /^\p{Script=Han}$/u;

function cutTerm(word: string): string {
  return word.length > MAX_TERM ? word.slice(0, MAX_TERM) : word;
}
