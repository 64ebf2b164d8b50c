import { lazy } from "../../base/util/lazy.ts";

/** A written word with its parts: `getUserInfo` has `get`, `User`, `Info`. */
export interface Compound {
  /** Position in the text. */
  readonly start: number;
  readonly end: number;
  /** Its words as written. A single word has one part. */
  readonly parts: readonly string[];
  /** A run of a script without spaces: its only part contains any number of words. */
  readonly unspaced: boolean;
}

const ASCII = /^[\0-\x7f]*$/;
/** The patterns below, for text with ASCII letters only. */
const ASCII_COMPOUND = /[A-Za-z\d]+(?:[_\-.][A-Za-z\d]+)*/g;
const ASCII_CASED = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]|\d+/g;
const JOINTS = /[_\-.]+/;
/** Lazy: Unicode tables take time to load, and most text needs none. */
const cased = lazy(() => /\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{Lt}\p{M}]+|\p{Lu}+(?!\p{Ll})|\p{Lu}|\p{N}+/gu);

/** Splits a text (accents folded, case kept) into compounds, and those at case changes, digits and joints. */
export function splitCompounds(text: string, limit: number): Compound[] {
  const compounds: Compound[] = [];
  eachWritten(text, limit, (start, end) => {
    compounds.push({ start, end, ...splitWritten(text.slice(start, end)) });
  });
  return compounds;
}

/** Visits up to `limit` written words of a text (accents folded) in order. */
export function eachWritten(text: string, limit: number, visit: (start: number, end: number) => void): void {
  let remaining = limit;
  for (const match of text.matchAll(ASCII.test(text) ? ASCII_COMPOUND : compoundPattern())) {
    visit(match.index, match.index + match[0].length);
    if (--remaining <= 0) return;
  }
}

/** Splits one written word. */
export function splitWritten(written: string): Pick<Compound, "parts" | "unspaced"> {
  if (ASCII.test(written)) return { parts: written.match(ASCII_CASED) ?? [written], unspaced: false };
  if (startsUnspaced().test(written)) return { parts: [written], unspaced: true };
  return { parts: written.split(JOINTS).flatMap((run) => run.match(cased()) ?? [run]), unspaced: false };
}

/** Marks that modify a letter (Latin, Greek and Cyrillic accents, Hebrew and Arabic vowel points). */
const ACCENTS = /[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u065f\u0670]/g;

/** Letters without a Unicode decomposition that people type without their mark. */
const LETTERS = /[ßẞøØæÆœŒłŁđĐðÐþÞıŧŦħĦ]/g;
const PLAIN = new Map(
  "ß=ss ẞ=SS ø=o Ø=O æ=ae Æ=AE œ=oe Œ=OE ł=l Ł=L đ=d Đ=D ð=d Ð=D þ=th Þ=TH ı=i ŧ=t Ŧ=T ħ=h Ħ=H"
    .split(" ")
    .map((pair) => pair.split("=") as [string, string]),
);

/** Removes accents and compatibility forms (full width, ligatures) and keeps case, which word splitting needs. */
export function foldAccents(text: string): string {
  if (ASCII.test(text)) return text;
  return text
    .normalize("NFKD")
    .replace(ACCENTS, "")
    .normalize("NFC")
    .replace(LETTERS, (letter) => PLAIN.get(letter) ?? letter);
}

/**
 * Characters of scripts without spaces between words, and Hangul, whose words carry particles. For a character class of
 * a regular expression with the `v` flag.
 */
const UNSPACED =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u30fc]";
const WORD = "[\\p{L}\\p{N}\\p{M}]";
const SPACED = `[${WORD}--${UNSPACED}]`;

/** Runs of unspaced script, or words of other scripts with single `_`, `-` or `.` inside. */
const compoundPattern: () => RegExp = lazy(
  () => new RegExp(`${UNSPACED}+|${SPACED}+(?:[_\\-.]${SPACED}+)*`, "gv"),
);
export const startsUnspaced: () => RegExp = lazy(() => new RegExp(`^${UNSPACED}`, "v"));
