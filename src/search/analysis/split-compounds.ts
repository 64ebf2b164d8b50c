import { COMPOUNDS, STARTS_UNSPACED } from "./scripts.ts";

/** A written word with the words inside it: `getUserInfo` has `get`, `User`, `Info`. */
export interface Compound {
  /** Its place in the text. */
  readonly start: number;
  readonly end: number;
  /** Its words as written. One word: the compound itself. */
  readonly parts: readonly string[];
  /** A run of a script without spaces: its one part holds any number of words. */
  readonly unspaced: boolean;
}

const ASCII = /^[\0-\x7f]+$/;
const JOINTS = /[_\-.]+/;
const CASED = /\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{Lt}\p{M}]+|\p{Lu}+(?!\p{Ll})|\p{Lu}|\p{N}+/gu;

/** Finds the compounds of a text (accents folded, case kept), each split at case changes, digits and joints. */
export function splitCompounds(text: string, limit: number): Compound[] {
  const compounds: Compound[] = [];
  for (const match of text.matchAll(COMPOUNDS)) {
    const written = match[0];
    const start = match.index;
    const end = start + written.length;
    if (ASCII.test(written)) {
      compounds.push({ start, end, parts: splitAscii(written), unspaced: false });
    } else if (STARTS_UNSPACED.test(written)) {
      compounds.push({ start, end, parts: [written], unspaced: true });
    } else {
      const parts = written.split(JOINTS).flatMap((run) => run.match(CASED) ?? [run]);
      compounds.push({ start, end, parts, unspaced: false });
    }
    if (compounds.length >= limit) break;
  }
  return compounds;
}

const JOINT = 0;
const UPPER = 1;
const LOWER = 2;
const DIGIT = 3;

function splitAscii(written: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let before = kindOf(written.charCodeAt(0));
  for (let at = 1; at < written.length; at++) {
    const kind = kindOf(written.charCodeAt(at));
    if (kind === before) continue;
    // The last capital starts the new word: XMLParser is XML, Parser.
    const cut = before === UPPER && kind === LOWER ? at - 1 : at;
    if (cut > start && before !== JOINT) parts.push(written.slice(start, cut));
    if (cut > start || before === JOINT) start = cut;
    before = kind;
  }
  parts.push(written.slice(start));
  return parts;
}

function kindOf(code: number): number {
  if (code >= 97) return LOWER;
  if (code === 95 || code < 48) return JOINT;
  return code <= 57 ? DIGIT : UPPER;
}
