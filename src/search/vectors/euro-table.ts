import { lazy } from "../../base/util/lazy.ts";
import { QUERY } from "../ranking/tuning.ts";
import { CONTROLS, loadPackedTable, MARKS, openLines, type PackedTable, WORDS } from "./static-table.ts";

/** Word lists that distinguish eleven European languages from English. */
export interface EuroWords {
  /** Undefined for a text in none of these languages. */
  read(text: string, isEnglish: (word: string) => boolean): readonly EuroWord[] | undefined;
  /** A word of a foreign text as in the list, an imperative by its infinitive; undefined for English words. */
  foreignForm(word: EuroWord): EuroWord | undefined;
  /** Loads the vectors, once. */
  vectors(): Promise<EuroVectors>;
}

export interface EuroWord {
  readonly text: string;
  /** In the word list; English, digits or punctuation; or neither. */
  readonly kind: "known" | "english" | "unknown";
  /** In the word list, and not also an English word. */
  readonly isForeign?: boolean;
  /** Written with letters that English lacks. */
  readonly isAccented?: boolean;
}

export interface EuroVectors {
  /** Adds the vector of a listed word, or the mean of an unknown word's grams. */
  add(word: EuroWord, sum: Float32Array): void;
}

const LETTERS_ONLY = /^[\p{Script=Latin}\p{Script=Cyrillic}]+$/u;
const CYRILLIC = /\p{Script=Cyrillic}/u;
const ASCII = /^[\0-\x7f]*$/;
const LETTERS = /\p{L}/gu;
const SHORTEST_UNKNOWN = 3;
const GRAM_LENGTHS = [3, 4, 5, 6];
const NEUTRAL = "=";
/**
 * The list has more infinitives than imperatives, which are the same without these endings: créer, erstellen, creare.
 */
const INFINITIVE_ENDINGS = ["r", "n", "re"];

/** Reads only the word list, which decides whether the vectors are needed. */
export async function loadEuroWords(directory: string): Promise<EuroWords> {
  const lines = await openLines(directory, "words.txt");
  const isNeutral = (word: string) => lines.find(NEUTRAL + word) !== undefined;
  const rowOf = (word: string) => lines.find(word) ?? lines.find(NEUTRAL + word);

  function read(text: string, isEnglish: (word: string) => boolean): readonly EuroWord[] | undefined {
    let foreign = 0;
    let english = 0;
    const words: EuroWord[] = [];
    for (const [written] of text.replace(CONTROLS, "").toLowerCase().normalize("NFC").matchAll(WORDS)) {
      const word = fold(written);
      if (!LETTERS_ONLY.test(word)) words.push({ text: word, kind: "english" });
      else if (rowOf(word) !== undefined) {
        const isForeign = !isNeutral(word) || CYRILLIC.test(word);
        words.push({ text: word, kind: "known", isForeign, isAccented: !ASCII.test(written) });
        if (isForeign) foreign++;
      } else if (!CYRILLIC.test(word) && isEnglish(word)) {
        words.push({ text: word, kind: "english" });
        if (word.length > 1) english++;
      } else {
        words.push({ text: word, kind: "unknown" });
        if (CYRILLIC.test(word) || !ASCII.test(written)) foreign++;
      }
    }
    const isForeign =
      foreign > 0 && foreign >= (foreign + english) * QUERY.foreignShare && isMostlyLettered(text);
    return isForeign ? words : undefined;
  }

  function foreignForm(word: EuroWord): EuroWord | undefined {
    if (word.isForeign) return word;
    const isUnknown = word.kind === "unknown";
    if (!isUnknown && !word.isAccented) return undefined;
    const infinitive = INFINITIVE_ENDINGS.map((ending) => word.text + ending).find(
      (form) => rowOf(form) !== undefined,
    );
    if (infinitive !== undefined) return { text: infinitive, kind: "known", isForeign: true };
    return isUnknown ? word : undefined;
  }

  return { read, foreignForm, vectors: lazy(() => loadEuroVectors(directory, rowOf, lines.size)) };
}

/** The rows of the words stand before those of the grams. */
async function loadEuroVectors(
  directory: string,
  rowOf: (word: string) => number | undefined,
  words: number,
): Promise<EuroVectors> {
  const grams = await openLines(directory, "grams.txt");
  const table: PackedTable = await loadPackedTable(directory, words + grams.size);
  return {
    add({ text, kind }, sum) {
      if (kind === "known") table.addRow(rowOf(text)!, sum, 1);
      if (kind !== "unknown" || text.length < SHORTEST_UNKNOWN) return;
      const found = gramsOf(text)
        .map((gram) => grams.find(gram))
        .filter((row) => row !== undefined);
      for (const row of found) table.addRow(words + row, sum, 1 / found.length);
    },
  };
}

function gramsOf(word: string): string[] {
  const whole = `<${word}>`;
  return GRAM_LENGTHS.flatMap((length) =>
    Array.from({ length: Math.max(0, whole.length - length + 1) }, (_, at) => whole.slice(at, at + length)),
  );
}

function isMostlyLettered(text: string): boolean {
  const letters = text.match(LETTERS) ?? [];
  return letters.filter((letter) => LETTERS_ONLY.test(letter)).length * 2 >= letters.length;
}

function fold(word: string): string {
  return ASCII.test(word) ? word : word.normalize("NFD").replace(MARKS, "");
}
