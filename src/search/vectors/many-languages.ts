import { lazy } from "../../base/util/lazy.ts";
import { isStopWord } from "../analysis/analyze.ts";
import { COMMON_VERBS } from "../analysis/tool-verbs.ts";
import { QUERY } from "../ranking/tuning.ts";
import { dot, type Embedder, type ForeignQuery, normalize } from "./embedder.ts";
import { type EuroVectors, type EuroWord, loadEuroWords } from "./euro-table.ts";
import {
  DIMENSIONS,
  loadPackedTable,
  MAXIMUM_CHARACTERS,
  openLines,
  type StaticTable,
} from "./static-table.ts";

/** Embeds texts of many languages into the vector space of the English table. */
export type ManyLanguages = Required<Pick<Embedder, "embed" | "embedDocuments" | "readForeign">>;

/** English texts use only the English table. Vectors of other languages load when a text needs them. */
export async function loadManyLanguages(
  english: StaticTable,
  directories: { readonly cjk: string; readonly euro: string },
): Promise<ManyLanguages> {
  const euro = await loadEuroWords(directories.euro);
  const loadCjk = lazy(() => loadCjkTable(directories.cjk));

  async function embedOne(text: string, isDocument: boolean): Promise<Float32Array> {
    const sum = new Float32Array(DIMENSIONS);
    let others = text;
    if (hasCjk(text)) {
      const cjk = await loadCjk();
      others = cjk.addRuns(text, sum);
      if (isDocument) cjk.temper(sum);
    }
    const words = euro.read(others, english.hasWord);
    if (words === undefined) english.addPieces(others, sum);
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

  const toolVerbs = lazy(async () => createToolVerbs(english.embed, await euro.vectors()));

  async function readForeign(query: string): Promise<ForeignQuery | undefined> {
    const text = query.slice(0, MAXIMUM_CHARACTERS);
    const words = hasCjk(query) ? undefined : euro.read(text, english.hasWord);
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

  return {
    embed: (texts) => embedAll(texts, false),
    embedDocuments: (texts) => embedAll(texts, true),
    readForeign,
  };
}

/** Finds the verbs of tools that translate a word of another language. Most words have none. */
function createToolVerbs(
  embed: (text: string) => Float32Array,
  { add }: EuroVectors,
): (word: EuroWord) => readonly string[] {
  const verbs = COMMON_VERBS.map((verb) => ({ verb, vector: embed(verb) }));
  return (word) => {
    const meaning = new Float32Array(verbs[0]!.vector.length);
    add(word, meaning);
    normalize(meaning);
    const near = verbs.map(({ verb, vector }) => ({ verb, cosine: dot(vector, meaning) }));
    const best = Math.max(...near.map(({ cosine }) => cosine));
    return near
      .filter(({ cosine }) => cosine >= QUERY.sameVerb && cosine >= best - QUERY.nextVerb)
      .map(({ verb }) => verb);
  };
}

/** Vectors of Chinese, Japanese and Korean character grams. */
interface CjkTable {
  /** Adds the grams of a text's runs to a sum and returns the remaining text. */
  addRuns(text: string, sum: Float32Array): string;
  /**
   * Makes the sum of a long text comparable with Latin words next to it. Its grams share a direction, which adds up
   * until the text is near to everything and crowds the answers to English queries: that direction is removed. A
   * character is part of up to three lengths of grams, so it counts a third.
   */
  temper(sum: Float32Array): void;
}

const RUNS = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+/g;
const HAS_RUN = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f]/;
const LONGEST_GRAM = 3;

/** Whether a text has characters of this table, including half-width and compatibility forms. */
export function hasCjk(text: string): boolean {
  return HAS_RUN.test(text);
}

async function loadCjkTable(directory: string): Promise<CjkTable> {
  const grams = await openLines(directory, "grams.txt");
  const table = await loadPackedTable(directory, grams.size);

  function addRun(run: string, sum: Float32Array): void {
    for (let start = 0; start < run.length; start++) {
      for (let end = start + 1; end <= Math.min(run.length, start + LONGEST_GRAM); end++) {
        const row = grams.find(run.slice(start, end));
        if (row !== undefined) table.addRow(row, sum, 1);
      }
    }
  }

  const common = new Float32Array(DIMENSIONS);
  for (let row = 0; row < grams.size; row++) table.addRow(row, common, 1);
  normalize(common);

  return {
    temper(sum) {
      const share = dot(sum, common);
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
