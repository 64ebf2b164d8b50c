import { readFile } from "node:fs/promises";
import { endianness } from "node:os";
import { join } from "node:path";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { normalize } from "./embedder.ts";

/** A table of int8 word-piece vectors in memory. */
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

/** Reads `vocab.txt`, `vectors.i8` and `scales.f32`; rows stay bytes. */
export async function loadStaticTable(directory: string): Promise<StaticTable> {
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
  expectTableSize(directory, "vectors.i8", vectorFile, count * DIMENSIONS);
  const rows = new Int8Array(vectorFile.buffer, vectorFile.byteOffset, vectorFile.byteLength);
  const scales = toScales(directory, scaleFile, count);
  const wordPiece = createWordPiece(vocabulary);
  const tokenize = (text: string) => wordPiece.tokenize(text.slice(0, MAXIMUM_CHARACTERS));

  function addPieces(text: string, sum: Float32Array): void {
    for (const id of tokenize(text)) {
      if (id === UNKNOWN_PIECE) continue;
      const scale = scales[id]!;
      const start = id * DIMENSIONS;
      for (let index = 0; index < DIMENSIONS; index++) sum[index]! += rows[start + index]! * scale;
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

/** BERT's uncased tokenizer. The id of a piece is its position in the vocabulary. */
export function createWordPiece(vocabulary: readonly string[]) {
  const heads = new Map<string, number>();
  const tails = new Map<string, number>();
  let longest = 0;
  for (const [id, piece] of vocabulary.entries()) {
    const isTail = piece.length > 2 && piece.startsWith("##");
    const text = isTail ? piece.slice(2) : piece;
    (isTail ? tails : heads).set(text, id);
    longest = Math.max(longest, text.length);
  }

  function pushPieces(word: string, ids: number[]): void {
    const before = ids.length;
    let start = word.length > LONGEST_WORD ? -1 : 0;
    while (start >= 0 && start < word.length) {
      const pieces = start === 0 ? heads : tails;
      let end = Math.min(word.length, start + longest);
      let id: number | undefined;
      while (end > start) {
        id = pieces.get(word.slice(start, end));
        if (id !== undefined) break;
        end--;
      }
      if (id === undefined) break;
      ids.push(id);
      start = end;
    }
    if (start === word.length) return;
    ids.length = before;
    ids.push(UNKNOWN_PIECE);
  }

  return {
    /** Whether a folded word is a single piece. */
    hasWord: (word: string): boolean => heads.has(word),
    /** The ids of the text's word pieces, without `[CLS]` and `[SEP]`. */
    tokenize(text: string): number[] {
      const ids: number[] = [];
      for (const [word] of clean(text).matchAll(WORDS)) pushPieces(word, ids);
      return ids;
    },
  };
}

/** Longer words are unknown, as in BERT; this also bounds the search for pieces. */
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

/** Reads one file of an embedding table. */
async function readTableFile(directory: string, file: string): Promise<Buffer> {
  try {
    return await readFile(join(directory, file));
  } catch (error) {
    const reason = reasonOf(error);
    throw unavailable("missing", `${file} cannot be read from ${directory} (${reason}).`);
  }
}

/** Reads a file with one text per line. */
export async function readTableLines(directory: string, file: string): Promise<string[]> {
  return (await readTableFile(directory, file)).toString("utf8").replace(/\n$/, "").split("\n");
}

function expectTableSize(directory: string, file: string, bytes: Buffer, expected: number): void {
  if (bytes.byteLength === expected) return;
  throw damagedTable(directory, `${file} has ${bytes.byteLength} bytes where ${expected} belong`);
}

/** The scales of a table's rows. Copies, because the file is little-endian and its buffer may start at any byte. */
function toScales(directory: string, bytes: Buffer, count: number): Float32Array {
  expectTableSize(directory, "scales.f32", bytes, count * Float32Array.BYTES_PER_ELEMENT);
  const copy = Uint8Array.from(bytes);
  const view = new DataView(copy.buffer);
  const scales =
    endianness() === "LE"
      ? new Float32Array(copy.buffer, 0, count)
      : Float32Array.from({ length: count }, (_, index) => view.getFloat32(index * 4, true));
  if (scales.every(Number.isFinite)) return scales;
  throw damagedTable(directory, "scales.f32 holds values that are no numbers");
}

function damagedTable(directory: string, reason: string): Problem {
  return unavailable("damaged", `${reason} (${directory}); install the package again.`);
}

function unavailable(state: string, reason: string): Problem {
  return problem("UNAVAILABLE", { name: "The embedding table", state, reason });
}

/** Rows packed by product quantisation: 64 codes per row, each for four components. */
export interface PackedTable {
  /** Adds a row, times `factor`, to a sum. */
  addRow(row: number, sum: Float32Array, factor: number): void;
}

const CODES = 64;
const WIDTH = 4;
const CHOICES = 256;

/** Reads `codes.u8`, `codebook.i8` and `scales.f32` of a table with this many rows. */
export async function loadPackedTable(directory: string, rows: number): Promise<PackedTable> {
  const [codes, book, scaleFile] = await Promise.all(
    ["codes.u8", "codebook.i8", "scales.f32"].map((file) => readTableFile(directory, file)),
  );
  expectTableSize(directory, "codes.u8", codes!, rows * CODES);
  expectTableSize(directory, "codebook.i8", book!, CODES * CHOICES * WIDTH);
  const scales = toScales(directory, scaleFile!, rows);
  const codebook = new Int8Array(book!.buffer, book!.byteOffset, book!.byteLength);
  return {
    addRow(row, sum, factor) {
      const scale = scales[row]! * factor;
      for (let code = 0; code < CODES; code++) {
        const from = (code * CHOICES + codes![row * CODES + code]!) * WIDTH;
        for (let part = 0; part < WIDTH; part++) sum[code * WIDTH + part]! += codebook[from + part]! * scale;
      }
    },
  };
}
