/** Scripts by the language, or group of languages, that a reader would name. */
const SCRIPTS: readonly (readonly [name: string, letters: RegExp, read: boolean])[] = [
  ["Japanese", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu, true],
  ["Chinese", /\p{Script=Han}/gu, true],
  ["Korean", /\p{Script=Hangul}/gu, true],
  ["a language in Latin script", /\p{Script=Latin}/gu, true],
  ["a language in Cyrillic script", /\p{Script=Cyrillic}/gu, true],
  ["Arabic script", /\p{Script=Arabic}/gu, false],
  ["Hebrew", /\p{Script=Hebrew}/gu, false],
  ["Greek", /\p{Script=Greek}/gu, false],
  ["Thai", /\p{Script=Thai}/gu, false],
  ["Devanagari script", /\p{Script=Devanagari}/gu, false],
  ["Bengali", /\p{Script=Bengali}/gu, false],
  ["Tamil", /\p{Script=Tamil}/gu, false],
  ["Georgian", /\p{Script=Georgian}/gu, false],
  ["Armenian", /\p{Script=Armenian}/gu, false],
];

/** A query that no table reads, and the language in which it could be asked instead. */
export interface UnreadLanguage {
  readonly query: string;
  readonly catalog: string;
}

/** Texts of a catalog that are looked at to say which language it speaks. */
const SAMPLE = 64;

/**
 * Says so where search understood nothing of a query: no table reads its script and no word of it was found.
 * `texts` are descriptions of the catalog's entries.
 */
export function unreadLanguage(
  query: string,
  foundSomething: boolean,
  texts: Iterable<string>,
): UnreadLanguage | undefined {
  if (foundSomething) return undefined;
  const language = scriptOf(query);
  if (language === undefined || language.read) return undefined;
  const sample = Iterator.from(texts).take(SAMPLE).toArray().join("\n");
  const catalog = scriptOf(sample)?.name ?? LATIN;
  return { query: language.name, catalog: catalog === LATIN ? "English" : catalog };
}

const LATIN = "a language in Latin script";

/** The script that most letters of a text belong to; kana count as Japanese even among Han characters. */
function scriptOf(text: string): { readonly name: string; readonly read: boolean } | undefined {
  let best: { readonly name: string; readonly read: boolean; readonly count: number } | undefined;
  for (const [name, letters, read] of SCRIPTS) {
    const count = text.match(letters)?.length ?? 0;
    if (count > (best?.count ?? 0)) best = { name, read, count };
  }
  if (best) return best;
  return /\p{L}/u.test(text) ? { name: "another script", read: false } : undefined;
}
