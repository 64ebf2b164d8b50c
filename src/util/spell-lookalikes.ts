import { lazy } from "./lazy.ts";

/** Alphabets whose letters look like those of another one. Greek letters that only look Greek (μ, Ω) mix with all. */
const ALPHABETS = [
  "[\\p{sc=Latn}--[\\uFF21-\\uFF5A]]",
  "\\p{sc=Cyrl}",
  "[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυχϲϳ]",
  "\\p{sc=Armn}",
  "\\p{sc=Cher}",
  "\\p{sc=Copt}",
  "\\p{sc=Lisu}",
  // Wide letters, and those of mathematics.
  "[\\uFF21-\\uFF5A]",
  "[\\u{1D400}-\\u{1D7CB}]",
];
/** Most text needs no tables of alphabets, which cost a start several megabytes. */
const tables = lazy(() => ({
  alphabets: ALPHABETS.map((letters) => new RegExp(letters, "v")),
  /** Only text with one of these can mix alphabets. */
  others: new RegExp(ALPHABETS.slice(1).join("|"), "v"),
  word: /[\p{L}\p{M}\p{Nd}]+/gv,
}));
/** All lookalikes are beyond Latin-1. */
const BEYOND_LATIN = /[\u0100-\uFFFF]/;
/** Characters that look like a slash, a dot, a colon or a hyphen, where an address or a path has one. */
const SEPARATOR = /(?<=[A-Za-z0-9])[⁄∕⧸／․．。｡꞉：∶‐‑−](?=[A-Za-z0-9])/g;

/**
 * Spells out letters that a person would take for others: in a word that mixes alphabets, those of the alphabet that
 * has fewer letters in it. Words in one alphabet stay, and so do languages that mix several, such as Japanese.
 */
export function spellLookalikes(text: string, spell: (character: string) => string): string {
  if (!BEYOND_LATIN.test(text)) return text;
  const { others, word } = tables();
  const separated = text.replace(SEPARATOR, spell);
  return others.test(separated) ? separated.replace(word, (one) => spellFewer(one, spell)) : separated;
}

function spellFewer(word: string, spell: (character: string) => string): string {
  const { alphabets } = tables();
  const letters = [...word].map((letter) => ({
    letter,
    alphabet: alphabets.findIndex((one) => one.test(letter)),
  }));
  const known = Map.groupBy(
    letters.filter(({ alphabet }) => alphabet >= 0),
    ({ alphabet }) => alphabet,
  );
  if (known.size < 2) return word;
  // If two alphabets have equally many letters, the later one of the list is spelt out.
  const [most] = [...known].toSorted(([left, a], [right, b]) => b.length - a.length || left - right)[0]!;
  return letters
    .map(({ letter, alphabet }) => (alphabet < 0 || alphabet === most ? letter : spell(letter)))
    .join("");
}
