import { lazy } from "../../util/lazy.ts";
import { compounds as compoundsOf, startsUnspaced } from "./scripts.ts";

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

const ASCII = /^[\0-\x7f]*$/;
const JOINTS = /[_\-.]+/;
/** Tables of Unicode take time to open, and most text needs none. */
const cased = lazy(() => /\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{Lt}\p{M}]+|\p{Lu}+(?!\p{Ll})|\p{Lu}|\p{N}+/gu);

/** Finds the compounds of a text (accents folded, case kept), each split at case changes, digits and joints. */
export function splitCompounds(text: string, limit: number): Compound[] {
  const compounds: Compound[] = [];
  eachWritten(text, limit, (start, end) => {
    compounds.push({ start, end, ...splitWritten(text.slice(start, end)) });
  });
  return compounds;
}

/** Visits the places of written words in a text (accents folded), in their order, `limit` of them at most. */
export function eachWritten(text: string, limit: number, visit: (start: number, end: number) => void): void {
  if (ASCII.test(text)) {
    eachWrittenInAscii(text, limit, visit);
    return;
  }
  let left = limit;
  for (const match of text.matchAll(compoundsOf())) {
    visit(match.index, match.index + match[0].length);
    if (--left <= 0) return;
  }
}

/** Splits one written word. */
export function splitWritten(written: string): Pick<Compound, "parts" | "unspaced"> {
  if (ASCII.test(written)) return { parts: splitAscii(written), unspaced: false };
  if (startsUnspaced().test(written)) return { parts: [written], unspaced: true };
  return { parts: written.split(JOINTS).flatMap((run) => run.match(cased()) ?? [run]), unspaced: false };
}

const OTHER = -1;
const JOINT = 0;
const UPPER = 1;
const LOWER = 2;
const DIGIT = 3;
const KINDS = Int8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return LOWER;
  if (/[A-Z]/.test(character)) return UPPER;
  if (/[0-9]/.test(character)) return DIGIT;
  return JOINTS.test(character) ? JOINT : OTHER;
});

/** The same as by `compounds`, several times as fast. */
function eachWrittenInAscii(text: string, limit: number, visit: (start: number, end: number) => void): void {
  const kindAt = (at: number): number => (at < text.length ? KINDS[text.charCodeAt(at)]! : OTHER);
  let left = limit;
  for (let at = 0; at < text.length; at++) {
    if (kindAt(at) <= JOINT) continue;
    const start = at++;
    while (kindAt(at) > JOINT || (kindAt(at) === JOINT && kindAt(at + 1) > JOINT)) at++;
    visit(start, at);
    if (--left <= 0) return;
  }
}

function splitAscii(written: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let before = KINDS[written.charCodeAt(0)]!;
  for (let at = 1; at < written.length; at++) {
    const kind = KINDS[written.charCodeAt(at)]!;
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
