import { LRUCache } from "lru-cache";
import { lazy } from "../../util/lazy.ts";
import { isStopWord } from "../analysis/stop-words.ts";
import { type CjkTable, hasCjk, loadCjkTable } from "./cjk-table.ts";
import type { ForeignQuery } from "./embedder.ts";
import { type EuroVectors, type EuroWord, loadEuroWords } from "./euro-table.ts";
import { normalize } from "./normalize.ts";
import { MAXIMUM_CHARACTERS, type StaticTable } from "./static-table.ts";
import { createToolVerbs } from "./tool-verbs.ts";

/** Embeds texts of many languages into the space of the English table. */
export interface ManyLanguages {
  embed(texts: readonly string[]): Promise<Float32Array[]>;
  /** The same for texts that are searched. */
  embedDocuments(texts: readonly string[]): Promise<Float32Array[]>;
  /** Reads a query in one of the European languages; undefined for all others. */
  readForeign(query: string): Promise<ForeignQuery | undefined>;
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
    const words = read(text);
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

  /** The query that was read last: it is embedded and searched by its words. */
  let last: { readonly text: string; readonly words: readonly EuroWord[] | undefined } | undefined;

  function read(text: string): readonly EuroWord[] | undefined {
    if (last?.text !== text) last = { text, words: euro.read(text, english.hasWord) };
    return last.words;
  }

  const toolVerbs = lazy(async () => createToolVerbs(english.embed, await euro.vectors()));

  async function readForeign(query: string): Promise<ForeignQuery | undefined> {
    const words = hasCjk(query) ? undefined : read(query.slice(0, MAXIMUM_CHARACTERS));
    if (words === undefined) return undefined;
    const verbsOf = await toolVerbs();
    const foreign = new Set<string>();
    let hasVerb = false;
    const texts = words.map((word) => {
      const form = euro.foreignForm(word);
      if (form === undefined) return word.text;
      foreign.add(word.text);
      if (isStopWord(word.text)) return "";
      const verbs = verbsOf(form);
      hasVerb ||= verbs.length > 0;
      return verbs.length > 0 ? verbs.join(" ") : word.text;
    });
    const inVerbsOfTools = hasVerb ? texts.filter((text) => text !== "").join(" ") : undefined;
    return { words: foreign, inVerbsOfTools };
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

  return { embed: embedQueries, embedDocuments: (texts) => embedAll(texts, true), readForeign };
}
