import { lazy } from "../../util/lazy.ts";

/**
 * Characters of scripts that are written without spaces between words, and Hangul, whose words carry
 * particles. For use inside a character class of a regular expression with the `v` flag.
 */
const UNSPACED =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u30fc]";
const WORD = "[\\p{L}\\p{N}\\p{M}]";
const SPACED = `[${WORD}--${UNSPACED}]`;

/** Runs of unspaced script, or words of the others with single `_`, `-` or `.` inside them. */
export const compounds: () => RegExp = lazy(
  () => new RegExp(`${UNSPACED}+|${SPACED}+(?:[_\\-.]${SPACED}+)*`, "gv"),
);
export const startsUnspaced: () => RegExp = lazy(() => new RegExp(`^${UNSPACED}`, "v"));
