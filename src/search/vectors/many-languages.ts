import { LRUCache } from "lru-cache";
import { lazy } from "../../util/lazy.ts";
import { type CjkTable, hasCjk, loadCjkTable } from "./cjk-table.ts";
import { type EuroVectors, type EuroWord, loadEuroWords } from "./euro-table.ts";
import { normalize } from "./normalize.ts";
import { MAXIMUM_CHARACTERS, type StaticTable } from "./static-table.ts";

/** Embeds texts of many languages into the space of the English table. */
export interface ManyLanguages {
  embed(texts: readonly string[]): Promise<Float32Array[]>;
  /** The same for texts that are searched. */
  embedDocuments(texts: readonly string[]): Promise<Float32Array[]>;
}

export interface LanguageDirectories {
  readonly cjk: string;
  readonly euro: string;
}

/** Queries whose vectors are kept: search, phrases and past use each compare the query of an ask. */
const KEPT_QUERIES = 16;

/** English texts take the way of the English table alone; the vectors of others are read when a text needs them. */
export async function loadManyLanguages(
  english: StaticTable,
  dimensions: number,
  directories: LanguageDirectories,
): Promise<ManyLanguages> {
  const euro = await loadEuroWords(directories.euro);
  const loadCjk = lazy(() => loadCjkTable(directories.cjk));

  async function embedOne(text: string, isDocument: boolean): Promise<Float32Array> {
    if (hasCjk(text)) return embedCjk(text, await loadCjk(), isDocument);
    const words = euro.read(text, english.hasWord);
    if (words === undefined) return english.embed(text);
    const sum = new Float32Array(dimensions);
    addEuro(words, await euro.vectors(), sum);
    return normalize(sum);
  }

  async function embedCjk(text: string, cjk: CjkTable, isDocument: boolean): Promise<Float32Array> {
    const sum = new Float32Array(dimensions);
    const rest = cjk.addRuns(text, sum);
    if (isDocument) cjk.temper(sum);
    const words = euro.read(rest, english.hasWord);
    if (words === undefined) english.addPieces(rest, sum);
    else addEuro(words, await euro.vectors(), sum);
    return normalize(sum);
  }

  function addEuro(words: readonly EuroWord[], vectors: EuroVectors, sum: Float32Array): void {
    for (const word of words) {
      if (word.kind === "english") english.addPieces(word.text, sum);
      else vectors.add(word, sum);
    }
  }

  async function embedAll(texts: readonly string[], isDocument: boolean): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const text of texts) vectors.push(await embedOne(text.slice(0, MAXIMUM_CHARACTERS), isDocument));
    return vectors;
  }

  const kept = new LRUCache<string, Float32Array>({ max: KEPT_QUERIES });

  async function embedQueries(texts: readonly string[]): Promise<Float32Array[]> {
    if (texts.length > KEPT_QUERIES) return embedAll(texts, false);
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      const vector = kept.get(text) ?? (await embedOne(text.slice(0, MAXIMUM_CHARACTERS), false));
      kept.set(text, vector);
      vectors.push(vector);
    }
    return vectors;
  }

  return { embed: embedQueries, embedDocuments: (texts) => embedAll(texts, true) };
}
