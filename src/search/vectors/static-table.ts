import { normalize } from "./embedder.ts";
import {
  damagedTable,
  expectTableSize,
  type LineTable,
  openLines,
  openRows,
  readScales,
  readTableFile,
} from "./table-files.ts";

/** A table of int8 word-piece vectors. */
export interface StaticTable {
  embed(text: string): Float32Array;
  tokenize(text: string): number[];
  /** Adds the vectors of the text's word pieces to a sum. */
  addPieces(text: string, sum: Float32Array): void;
  /** Whether a folded word is a single piece of the vocabulary. */
  hasWord(word: string): boolean;
}

/** Components of the vectors in all tables of the package. */
export const DIMENSIONS = 256;
/** Further text no longer changes the sum, but costs time. */
export const MAXIMUM_CHARACTERS = 100_000;
/** The id of `[UNK]`, for words without a match. */
export const UNKNOWN_PIECE = 100;
const SMALLEST_VOCABULARY = UNKNOWN_PIECE + 1;

/** Opens `vocab.txt`, `vectors.i8` and `scales.f32`; the rows stay bytes. */
export async function loadStaticTable(directory: string): Promise<StaticTable> {
  const vocabulary = await openLines(directory, "vocab.txt");
  const count = vocabulary.size;
  if (count < SMALLEST_VOCABULARY) throw damagedTable(directory, `vocab.txt has only ${count} pieces`);
  if (vocabulary.find("[UNK]") !== UNKNOWN_PIECE) {
    throw damagedTable(directory, `vocab.txt has no [UNK] at ${UNKNOWN_PIECE}`);
  }
  const scales = await readScales(directory, count);
  const rows = await openRows(directory, "vectors.i8", { count, width: DIMENSIONS });
  const wordPiece = createWordPiece(vocabulary);
  const tokenize = (text: string) => wordPiece.tokenize(text.slice(0, MAXIMUM_CHARACTERS));

  function addPieces(text: string, sum: Float32Array): void {
    for (const id of tokenize(text)) {
      if (id === UNKNOWN_PIECE) continue;
      const scale = scales[id]!;
      const start = rows.find(id);
      const { bytes } = rows;
      for (let index = 0; index < DIMENSIONS; index++) sum[index]! += bytes[start + index]! * scale;
    }
  }

  return {
    tokenize,
    addPieces,
    hasWord: wordPiece.hasWord,
    embed(text) {
      const sum = new Float32Array(DIMENSIONS);
      addPieces(text, sum);
      return normalize(sum);
    },
  };
}

interface WordPieceTokenizer {
  /** The ids of the text's word pieces, without `[CLS]` and `[SEP]`. */
  tokenize(text: string): number[];
  /** Whether a folded word is a single piece. */
  hasWord(word: string): boolean;
}

/** BERT's uncased tokenizer; the position of a piece in the vocabulary is its id. */
export function createWordPiece(vocabulary: LineTable): WordPieceTokenizer {
  const bytes = Buffer.alloc(TAIL.length + 4 * LONGEST_WORD);

  function pushPieces(word: string, ids: number[]): void {
    const before = ids.length;
    const last = word.length > LONGEST_WORD ? 0 : TAIL.length + bytes.write(word, TAIL.length);
    let start: number = TAIL.length;
    while (start < last) {
      // A tail is in the vocabulary with its mark, which takes the place of bytes that were read.
      const from = start === TAIL.length ? start : start - bytes.write(TAIL, start - TAIL.length);
      let end = Math.min(last, from + vocabulary.longest);
      let id: number | undefined;
      while (end > start) {
        id = vocabulary.findBytes(bytes, from, end);
        if (id !== undefined) break;
        end--;
      }
      if (id === undefined) break;
      ids.push(id);
      start = end;
    }
    if (start === last) return;
    ids.length = before;
    ids.push(UNKNOWN_PIECE);
  }

  return {
    hasWord: (word) => vocabulary.find(word) !== undefined,
    tokenize(text) {
      const ids: number[] = [];
      for (const [word] of clean(text).matchAll(WORDS)) pushPieces(word, ids);
      return ids;
    },
  };
}

/** Before a piece that goes on with a word. */
const TAIL = "##";
/** Longer words are unknown, as in BERT; it also bounds the search for pieces. */
const LONGEST_WORD = 100;
const PLAIN = /^[\t\n\r\x20-\x7e]*$/;
export const CONTROLS = /(?![\t\n\r])[\p{C}\uFFFD]/gu;
const IDEOGRAPHS =
  /[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/gu;
export const MARKS = /\p{Mn}+/gu;
/** A single punctuation mark, or a run of anything else except white space. */
export const WORDS = /[\p{P}$+<=>^`|~]|[^\s\p{P}$+<=>^`|~]+/gu;

function clean(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  return text
    .replace(CONTROLS, "")
    .replace(IDEOGRAPHS, " $& ")
    .toLowerCase()
    .normalize("NFD")
    .replace(MARKS, "");
}

/** Rows packed by product quantisation: 64 codes a row, each for four components. */
export interface PackedTable {
  /** Adds a row, times `factor`, to a sum. */
  addRow(row: number, sum: Float32Array, factor: number): void;
}

const CODES = 64;
const WIDTH = 4;
const CHOICES = 256;

/** Opens `codes.u8`, `codebook.i8` and `scales.f32` of a table with that many rows. */
export async function loadPackedTable(directory: string, count: number): Promise<PackedTable> {
  const book = await readTableFile(directory, "codebook.i8");
  expectTableSize(directory, "codebook.i8", book.byteLength, CODES * CHOICES * WIDTH);
  const codebook = new Int8Array(book.buffer, book.byteOffset, book.byteLength);
  const scales = await readScales(directory, count);
  const rows = await openRows(directory, "codes.u8", { count, width: CODES });
  return {
    addRow(row, sum, factor) {
      const scale = scales[row]! * factor;
      const start = rows.find(row);
      const { bytes } = rows;
      for (let code = 0; code < CODES; code++) {
        const choice = bytes[start + code]! & (CHOICES - 1);
        const from = (code * CHOICES + choice) * WIDTH;
        for (let part = 0; part < WIDTH; part++) sum[code * WIDTH + part]! += codebook[from + part]! * scale;
      }
    },
  };
}
