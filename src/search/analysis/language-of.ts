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

/** The language of a query that found nothing, and the one in which it could be asked instead. */
export interface OtherLanguage {
  readonly query: string;
  readonly catalog: string;
}

/** Texts of a catalog that are looked at to say which language it speaks. */
const SAMPLE = 64;

/**
 * Tells the languages of a query and of a catalog if they are written in different scripts. A query that found
 * nothing may then find something in the catalog's language. `texts` are descriptions of the catalog's entries.
 */
export function otherLanguage(query: string, texts: Iterable<string>): OtherLanguage | undefined {
  const language = scriptOf(query);
  if (language === undefined) return undefined;
  const sample = Iterator.from(texts).take(SAMPLE).toArray().join("\n");
  const catalog = scriptOf(sample) ?? LATIN;
  if (catalog === language) return undefined;
  return { query: language, catalog: catalog === LATIN ? "English" : catalog };
}

const LATIN = "a language in Latin script";

/** The script that most letters of a text belong to; kana count as Japanese even among Han characters. */
function scriptOf(text: string): string | undefined {
  let best: { readonly name: string; readonly count: number } | undefined;
  for (const [name, letters] of SCRIPTS) {
    const count = text.match(letters)?.length ?? 0;
    if (count > (best?.count ?? 0)) best = { name, count };
  }
  return best?.name ?? (/\p{L}/u.test(text) ? "another script" : undefined);
}
