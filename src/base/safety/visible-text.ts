import { cutText } from "../util/cut-text.ts";
import { lazy } from "../util/lazy.ts";
import { HIDDEN } from "./invisible.ts";

const EACH_HIDDEN = new RegExp(HIDDEN.source, "gv");
const LINE_ENDS = /\r\n|[\t\n]/g;

/** Scripts that join letters. */
const JOINING = ["Arab", "Syrc", "Mong", "Nkoo", "Mand", "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml"]
  .concat(["Telu", "Knda", "Mlym", "Sinh", "Khmr", "Mymr", "Tibt"])
  .map((script) => `\\p{sc=${script}}`)
  .join("");
const RIGHT_TO_LEFT = "\\p{scx=Arab}\\p{scx=Hebr}\\p{scx=Syrc}\\p{scx=Thaa}\\p{scx=Nkoo}";
const MARK = "[\\u200E\\u200F\\u061C]";
/** A hidden neighbour will be spelt out itself, so the joiner next to it is not needed. */
const SEEN = "--\\p{Default_Ignorable_Code_Point}]";
/** Hidden characters that some languages and emoji need, in the positions where they need them. */
const needed = lazy(
  () =>
    new RegExp(
      [
        "\\r(?=\\n)",
        `(?<=[[${JOINING}]${SEEN})[\\u200C\\u200D](?=[[\\p{L}\\p{M}]${SEEN})`,
        `(?<=\\p{L})[\\u200C\\u200D](?=[[${JOINING}]${SEEN})`,
        // Some words end with a mark and a joiner.
        `(?<=[[[${JOINING}]&&\\p{M}]${SEEN})\\u200D(?!${MARK}|[\\u200C\\u200D])`,
        "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]|\\p{Emoji}\\uFE0F)\\u200D(?=\\p{Extended_Pictographic})",
        "(?<=\\p{Emoji})[\\uFE0E\\uFE0F]",
        `(?<=[[${RIGHT_TO_LEFT}]${SEEN} ?)${MARK}(?!${MARK})`,
        `(?<!${MARK})${MARK}(?= ?[[${RIGHT_TO_LEFT}]${SEEN})`,
      ].join("|"),
      "vy",
    ),
);

/**
 * Makes outside text safe for models, people, terminals and logs: spells out invisible characters as JSON escapes
 * (`\u001b`). Drops nothing; JSON stays the same JSON; text of all languages, emoji, tabs and line ends stay.
 * Idempotent.
 */
export function toVisibleText(text: string, maxChars?: number): string {
  const spelt = spell(text);
  if (maxChars === undefined || spelt.length <= maxChars) return spelt;
  // The cut may separate a joiner from its letter.
  return cutText(spell(cutText(spelt, maxChars)), maxChars);
}

/** {@link toVisibleText} for a person who checks every character: lookalikes are spelt out too. */
export function toExactText(text: string): string {
  return spellLookalikes(toVisibleText(text), spellUnits);
}

/** {@link toExactText} on one line. */
export function toVisibleLine(text: string): string {
  return toExactText(text).replace(LINE_ENDS, spellUnits);
}

/** Whether a name or value that cannot be changed has characters that {@link toVisibleText} would spell out. */
export function hidesText(text: string): boolean {
  return HIDDEN.test(text) && spell(text) !== text;
}

/** Plain text is recognised much faster than hidden characters. */
const UNUSUAL = /[^\t\n\x20-\x7e]/;

/** Only these can be {@link NEEDED}, and look-around is slow. */
const MAY_BE_NEEDED = new Set("\r\u200c\u200d\ufe0e\ufe0f\u200e\u200f\u061c");

function spell(text: string): string {
  if (!UNUSUAL.test(text) || !HIDDEN.test(text)) return text;
  return text.replace(EACH_HIDDEN, (character, at: number) => {
    if (!MAY_BE_NEEDED.has(character)) return spellUnits(character);
    const isNeeded = needed();
    isNeeded.lastIndex = at;
    return isNeeded.test(text) ? character : spellUnits(character);
  });
}

const spelt = new Map<string, string>();

/** Spells characters as JSON escapes. Cached, because a text may hide millions of a few thousand characters. */
export function spellUnits(characters: string): string {
  const cached = spelt.get(characters);
  if (cached !== undefined) return cached;
  const units = characters.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  const spelling = units.map((unit) => `\\u${unit}`).join("");
  if (spelt.size < MOST_SPELT) spelt.set(characters, spelling);
  return spelling;
}

const MOST_SPELT = 8_192;

const ODD = /[^\x20-\x7e]/;

/** Escapes the same characters within JSON, whose value stays the same. */
export function toVisibleJson(json: string): string {
  if (!ODD.test(json)) return json;
  return json.replace(EACH_HIDDEN, spellUnits);
}

/** Alphabets with letters that look like letters of another. Greek letters that look only Greek (μ, Ω) mix with all. */
const ALPHABETS = [
  "[\\p{sc=Latn}--[\\uFF21-\\uFF5A]]",
  "\\p{sc=Cyrl}",
  "[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυχϲϳ]",
  "\\p{sc=Armn}",
  "\\p{sc=Cher}",
  "\\p{sc=Copt}",
  "\\p{sc=Lisu}",
  // Fullwidth and mathematical letters.
  "[\\uFF21-\\uFF5A]",
  "[\\u{1D400}-\\u{1D7CB}]",
];
/** Lazy: most text needs no alphabets, which take several megabytes. */
const tables = lazy(() => ({
  alphabets: ALPHABETS.map((letters) => new RegExp(letters, "v")),
  /** Only text with one of these can mix alphabets. */
  others: new RegExp(ALPHABETS.slice(1).join("|"), "v"),
  word: /[\p{L}\p{M}\p{Nd}]+/gv,
}));
/** All lookalikes are beyond Latin-1. */
const BEYOND_LATIN = /[\u0100-\uFFFF]/;
/** Characters that look like a slash, dot, colon or hyphen, at positions typical of an address or a path. */
const SEPARATOR = /(?<=[A-Za-z0-9])[⁄∕⧸／․．。｡꞉：∶‐‑−](?=[A-Za-z0-9])/g;

/**
 * Spells out letters that look like others: in a word of mixed alphabets, those of the alphabet with fewer letters.
 * Words in one alphabet stay, and so do languages that mix several, such as Japanese.
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
  const byAlphabet = Map.groupBy(
    letters.filter(({ alphabet }) => alphabet >= 0),
    ({ alphabet }) => alphabet,
  );
  if (byAlphabet.size < 2) return word;
  // If two alphabets have the same number of letters, the later one in the list is spelt out.
  const [most] = [...byAlphabet].toSorted(([left, a], [right, b]) => b.length - a.length || left - right)[0]!;
  return letters
    .map(({ letter, alphabet }) => (alphabet < 0 || alphabet === most ? letter : spell(letter)))
    .join("");
}
