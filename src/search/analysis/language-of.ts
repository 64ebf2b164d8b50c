import { splitWords } from "../../base/util/split-words.ts";
import { effectOfWord } from "./tool-verbs.ts";

/** Scripts by the language, or group of languages, that a reader would name. */
const SCRIPTS: readonly (readonly [name: string, letters: RegExp])[] = [
  ["Japanese", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ["Chinese", /\p{Script=Han}/gu],
  ["Korean", /\p{Script=Hangul}/gu],
  ["a language in Latin script", /\p{Script=Latin}/gu],
  ["a language in Cyrillic script", /\p{Script=Cyrillic}/gu],
  ["Arabic script", /\p{Script=Arabic}/gu],
  ["Hebrew", /\p{Script=Hebrew}/gu],
  ["Greek", /\p{Script=Greek}/gu],
  ["Thai", /\p{Script=Thai}/gu],
  ["Devanagari script", /\p{Script=Devanagari}/gu],
  ["Bengali", /\p{Script=Bengali}/gu],
  ["Tamil", /\p{Script=Tamil}/gu],
  ["Georgian", /\p{Script=Georgian}/gu],
  ["Armenian", /\p{Script=Armenian}/gu],
];

/** A query's language that search reads badly, and the language to ask in instead. */
export interface OtherLanguage {
  readonly query: string;
  readonly catalog: string;
}

/** Number of texts of a catalog from which its language is detected. */
const SAMPLE = 64;
const LATIN = "a language in Latin script";
/** Scripts whose words or characters search knows. */
const READ = new Set([LATIN, "Japanese", "Chinese", "Korean", "a language in Cyrillic script"]);
/** Letters of Nordic languages, Czech, Hungarian, Romanian and Vietnamese, whose words search does not know. */
const UNREAD_LETTERS = /[åæøěřůťďňőűășțđơư\u1ea0-\u1ef9]/iu;
/** Words that rarely occur in other languages. */
const ENGLISH_WORDS = new Set(
  "the this that is are was does you it your of from with and or not what which who when where why how".split(
    " ",
  ),
);
/** Minimum share of such words in an English text; names and fields have none. */
const ENGLISH_SHARE = 0.05;

/**
 * Detects the languages of a query and of a catalog if the query may find more in the catalog's language: it found
 * nothing and the languages differ, or search does not know the query's language. `texts` are descriptions of entries
 * in the catalog.
 */
export function otherLanguage(
  query: string,
  texts: Iterable<string>,
  found: boolean,
): OtherLanguage | undefined {
  const language = scriptOf(query);
  if (language === undefined) return undefined;
  const isRead = language === LATIN ? !UNREAD_LETTERS.test(query.normalize("NFC")) : READ.has(language);
  if (found && isRead) return undefined;
  const sample = Iterator.from(texts).take(SAMPLE).toArray().join("\n");
  const catalog = scriptOf(sample) ?? LATIN;
  if (catalog !== language) return { query: language, catalog: catalog === LATIN ? "English" : catalog };
  const isForeign = language === LATIN && englishShare(query) === 0 && !startsWithVerb(query);
  return isForeign && englishShare(sample) >= ENGLISH_SHARE
    ? { query: "another language", catalog: "English" }
    : undefined;
}

function englishShare(text: string): number {
  const words = splitWords(text);
  return words.filter((word) => ENGLISH_WORDS.has(word)).length / Math.max(1, words.length);
}

function startsWithVerb(query: string): boolean {
  return effectOfWord(splitWords(query)[0] ?? "") !== undefined;
}

/** The script of most letters in a text; kana count as Japanese even among Han characters. */
function scriptOf(text: string): string | undefined {
  let best: { readonly name: string; readonly count: number } | undefined;
  for (const [name, letters] of SCRIPTS) {
    const count = text.match(letters)?.length ?? 0;
    if (count > (best?.count ?? 0)) best = { name, count };
  }
  return best?.name ?? (/\p{L}/u.test(text) ? "another script" : undefined);
}
