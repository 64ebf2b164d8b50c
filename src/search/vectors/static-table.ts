import { normalize } from "./normalize.ts";
import { damagedTable, expectTableSize, readTableFile, readTableLines, toScales } from "./table-files.ts";
import { createWordPiece, UNKNOWN_PIECE } from "./word-piece.ts";

/** A table of int8 word-piece vectors in memory. */
export interface StaticTable {
  embed(text: string): Float32Array;
  tokenize(text: string): number[];
  /** Adds the vectors of the text's word pieces to a sum. */
  addPieces(text: string, sum: Float32Array): void;
  /** Whether a folded word is one piece of the vocabulary. */
  hasWord(word: string): boolean;
}

/** Text beyond this no longer moves the sum, and costs time. */
export const MAXIMUM_CHARACTERS = 100_000;
const SMALLEST_VOCABULARY = UNKNOWN_PIECE + 1;

/** Reads `vocab.txt`, `vectors.i8` and `scales.f32`; the rows stay bytes. */
export async function loadStaticTable(directory: string, dimensions: number): Promise<StaticTable> {
  const [vocabulary, vectorFile, scaleFile] = await Promise.all([
    readTableLines(directory, "vocab.txt"),
    readTableFile(directory, "vectors.i8"),
    readTableFile(directory, "scales.f32"),
  ]);
  const count = vocabulary.length;
  if (count < SMALLEST_VOCABULARY) throw damagedTable(directory, `vocab.txt has only ${count} pieces`);
  if (vocabulary[UNKNOWN_PIECE] !== "[UNK]") {
    throw damagedTable(directory, `vocab.txt has no [UNK] at ${UNKNOWN_PIECE}`);
  }
  expectTableSize(directory, "vectors.i8", vectorFile, count * dimensions);
  const rows = new Int8Array(vectorFile.buffer, vectorFile.byteOffset, vectorFile.byteLength);
  const scales = toScales(directory, scaleFile, count);
  const wordPiece = createWordPiece(vocabulary);
  const tokenize = (text: string) => wordPiece.tokenize(text.slice(0, MAXIMUM_CHARACTERS));

  function addPieces(text: string, sum: Float32Array): void {
    for (const id of tokenize(text)) {
      if (id === UNKNOWN_PIECE) continue;
      const scale = scales[id]!;
      const start = id * dimensions;
      for (let index = 0; index < dimensions; index++) sum[index]! += rows[start + index]! * scale;
    }
  }

  return {
    tokenize,
    addPieces,
    hasWord: wordPiece.hasWord,
    embed(text) {
      const sum = new Float32Array(dimensions);
      addPieces(text, sum);
      return normalize(sum);
    },
  };
}
