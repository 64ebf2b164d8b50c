import { WordTable } from "../lexical/word-table.ts";
import { normalize } from "./normalize.ts";
import { loadPackedTable } from "./packed-table.ts";
import { readTableLines } from "./table-files.ts";

/** Vectors of Chinese, Japanese and Korean character grams. */
export interface CjkTable {
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

export async function loadCjkTable(directory: string): Promise<CjkTable> {
  const grams = await readTableLines(directory, "grams.txt");
  const rows = new WordTable<number>();
  for (const [row, gram] of grams.entries()) rows.add(gram, 0, gram.length, row);
  const table = await loadPackedTable(directory, grams.length);

  function addRun(run: string, sum: Float32Array): void {
    for (let start = 0; start < run.length; start++) {
      for (let end = start + 1; end <= Math.min(run.length, start + LONGEST_GRAM); end++) {
        const row = rows.get(run, start, end);
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
