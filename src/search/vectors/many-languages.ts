import { LRUCache } from "lru-cache";
import { lazy } from "../../base/util/lazy.ts";
import { isStopWord } from "../analysis/analyze.ts";
import { COMMON_VERBS } from "../analysis/tool-verbs.ts";
import { QUERY } from "../ranking/tuning.ts";
import { type ForeignQuery, normalize } from "./embedder.ts";
import { type EuroVectors, type EuroWord, loadEuroWords } from "./euro-table.ts";
import { loadPackedTable, MAXIMUM_CHARACTERS, readTableLines, type StaticTable } from "./static-table.ts";

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

/** Finds the verbs of tools that a word of another language stands for. Most words stand for none. */
function createToolVerbs(
  embed: (text: string) => Float32Array,
  { add }: EuroVectors,
): (word: EuroWord) => readonly string[] {
  const verbs = COMMON_VERBS.map((verb) => ({ verb, vector: embed(verb) }));
  return (word) => {
    const own = new Float32Array(verbs[0]!.vector.length);
    add(word, own);
    normalize(own);
    const near = verbs.map(({ verb, vector }) => ({ verb, cosine: dot(vector, own) }));
    const best = Math.max(...near.map(({ cosine }) => cosine));
    return near
      .filter(({ cosine }) => cosine >= QUERY.sameVerb && cosine >= best - QUERY.nextVerb)
      .map(({ verb }) => verb);
  };
}

function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * other[at]!, 0);
}

/** Vectors of Chinese, Japanese and Korean character grams. */
interface CjkTable {
  /** Adds the grams of a text's runs to a sum and gives the rest of the text. */
  addRuns(text: string, sum: Float32Array): string;
  /**
   * Makes the sum of a long text comparable with Latin words beside it. Its grams share a direction, which adds
   * up until the text is near to everything and crowds the answers to English queries: it is taken out. And a
   * character stands in up to three lengths of grams, so it counts a third.
   */
  temper(sum: Float32Array): void;
}

const RUNS = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+/g;
const HAS_RUN = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f]/;
const LONGEST_GRAM = 3;
const DIMENSIONS = 256;

/** Whether a text has characters that this table is for, half-width and compatibility forms included. */
export function hasCjk(text: string): boolean {
  return HAS_RUN.test(text);
}

async function loadCjkTable(directory: string): Promise<CjkTable> {
  const grams = await readTableLines(directory, "grams.txt");
  const rows = new Map(grams.map((gram, row) => [gram, row]));
  const table = await loadPackedTable(directory, grams.length);

  function addRun(run: string, sum: Float32Array): void {
    for (let start = 0; start < run.length; start++) {
      for (let end = start + 1; end <= Math.min(run.length, start + LONGEST_GRAM); end++) {
        const row = rows.get(run.slice(start, end));
        if (row !== undefined) table.addRow(row, sum, 1);
      }
    }
  }

  const common = new Float32Array(DIMENSIONS);
  for (let row = 0; row < grams.length; row++) table.addRow(row, common, 1);
  normalize(common);

  return {
    temper(sum) {
      const share = sum.reduce((total, value, index) => total + value * common[index]!, 0);
      for (let index = 0; index < DIMENSIONS; index++)
        sum[index] = (sum[index]! - share * common[index]!) / LONGEST_GRAM;
    },
    addRuns: (text, sum) =>
      text.normalize("NFKC").replace(RUNS, (run) => {
        addRun(run, sum);
        return " ";
      }),
  };
}
