import { isStopWord } from "../../../search/analysis/analyze.ts";

const MAX_KEYWORDS = 64;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const ENDING = /(?:ies|ing|ed|es|er|s|e|y)$/;
const LEAST_STEM = 3;

/** The distinct words of a query or scenario, in lower case, without stop words and single letters. */
export function toKeywords(text: string): string[] {
  const words = splitText(text).filter((word) => word.length > 1 && !isStopWord(word));
  return [...new Set(words)].slice(0, MAX_KEYWORDS);
}

/** The words of a text in one line, each after a blank, for {@link countPresent}. */
export function toWordLine(text: string): string {
  return ` ${splitText(text).join(" ")}`;
}

/** Counts the keywords that begin a word of the line, so that endings such as -s and -ing do not matter. */
export function countPresent(keywords: readonly string[], wordLine: string): number {
  return keywords.filter((keyword) => wordLine.includes(` ${withoutEnding(keyword)}`)).length;
}

function splitText(text: string): string[] {
  const normal = text.normalize("NFC").toLowerCase();
  const spaced = UNSPACED.test(normal) ? separateWords(normal) : normal;
  return spaced.split(/[^\p{L}\p{N}\p{M}]+/u).filter((word) => word !== "");
}

/** Chinese, Japanese and Thai have no blanks between words. */
function separateWords(text: string): string {
  const segments = new Intl.Segmenter(undefined, { granularity: "word" }).segment(text);
  return Array.from(segments, ({ segment }) => segment).join(" ");
}

function withoutEnding(word: string): string {
  const stem = word.replace(ENDING, "");
  return stem.length < LEAST_STEM ? word : stem;
}
