import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { endianness } from "node:os";
import { join } from "node:path";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { hashBytes } from "../../base/tokens/token-table.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { normalize } from "./embedder.ts";

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

/** Reads one file of an embedding table. */
async function readTableFile(directory: string, file: string): Promise<Buffer> {
  return readFile(join(directory, file)).catch((error: unknown) => {
    throw missingFile(directory, file, error);
  });
}

/** A file of one text a line, without doubles. */
export async function openLines(directory: string, file: string): Promise<LineTable> {
  return new LineTable(await readTableFile(directory, file));
}

const NEW_LINE = 0x0a;

/**
 * Finds the place of a text among the lines of a file. The file itself is the table: maps of strings take three times the
 * memory and the time ("4 servers, 1 session" of `npm run bench -- sessions`).
 */
export class LineTable {
  readonly size: number;
  /** The bytes of the longest line. */
  readonly longest: number;
  readonly #file: Uint8Array;
  /** The start of each line, and after the last one the end of the file. */
  readonly #starts: Uint32Array;
  /** Places of lines plus one, by their hash or in the next empty slot after it. */
  readonly #slots: Uint16Array | Uint32Array;
  #text = Buffer.alloc(256);

  constructor(file: Uint8Array) {
    const lines = file.at(-1) === NEW_LINE ? file : Buffer.concat([file, Buffer.of(NEW_LINE)]);
    let size = 0;
    for (let at = 0; at < lines.length; at++) if (lines[at] === NEW_LINE) size++;
    const starts = new Uint32Array(size + 1);
    const Places = size < 2 ** 16 ? Uint16Array : Uint32Array;
    const slots = new Places(2 ** Math.ceil(Math.log2(2 * size + 1)));
    let longest = 0;
    for (let line = 0, start = 0; line < size; line++, start = starts[line]!) {
      let end = start;
      while (lines[end] !== NEW_LINE) end++;
      starts[line + 1] = end + 1;
      if (end - start > longest) longest = end - start;
      let slot = hashBytes(lines, start, end) & (slots.length - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = line + 1;
    }
    this.size = size;
    this.longest = longest;
    this.#file = lines;
    this.#starts = starts;
    this.#slots = slots;
  }

  find(text: string): number | undefined {
    if (this.#text.length < 3 * text.length) this.#text = Buffer.alloc(3 * text.length);
    return this.findBytes(this.#text, 0, this.#text.write(text));
  }

  findBytes(bytes: Uint8Array, start: number, end: number): number | undefined {
    const last = this.#slots.length - 1;
    for (let slot = hashBytes(bytes, start, end) & last; ; slot = (slot + 1) & last) {
      const line = this.#slots[slot]! - 1;
      if (line < 0) return undefined;
      if (this.#isLine(line, bytes, start, end)) return line;
    }
  }

  #isLine(line: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[line]!;
    if (this.#starts[line + 1]! - 1 - from !== end - start) return false;
    for (let at = start; at < end; at++) if (this.#file[from + at - start] !== bytes[at]) return false;
    return true;
  }
}

/** Rows of a file. Most catalogs use the words of few. */
interface Rows {
  /** The rows in memory. */
  bytes: Int8Array;
  /** Returns where a row begins in `bytes`, and reads it if it is not in memory. */
  find(row: number): number;
}

/** When this many rows are in memory, all are read. */
const MOST_ROWS = 4_096;

/** Opens a file of rows of the same width. */
async function openRows(
  directory: string,
  file: string,
  { count, width }: { readonly count: number; readonly width: number },
): Promise<Rows> {
  const descriptor = openTableFile(directory, file);
  const readAll = () => {
    const all = new Int8Array(count * width);
    readSync(descriptor, all, 0, all.length, 0);
    closeSync(descriptor);
    return all;
  };
  try {
    expectTableSize(directory, file, fstatSync(descriptor).size, count * width);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  // Windows does not let an upgrade replace a file that is open.
  if (process.platform === "win32") return { bytes: readAll(), find: (row) => row * width };
  /** Places in `bytes` plus one. */
  const places = new Uint16Array(count);
  let read = 0;
  const rows: Rows = {
    bytes: new Int8Array(MOST_ROWS * width),
    find: (row) => {
      const place = places[row]!;
      if (place > 0) return (place - 1) * width;
      if (read === MOST_ROWS) {
        rows.bytes = readAll();
        rows.find = (any) => any * width;
        return row * width;
      }
      readSync(descriptor, rows.bytes, read * width, width, row * width);
      read += 1;
      places[row] = read;
      return (read - 1) * width;
    },
  };
  return rows;
}

function openTableFile(directory: string, file: string): number {
  try {
    return openSync(join(directory, file), "r");
  } catch (error) {
    throw missingFile(directory, file, error);
  }
}

function expectTableSize(directory: string, file: string, bytes: number, expected: number): void {
  if (bytes === expected) return;
  throw damagedTable(directory, `${file} has ${bytes} bytes where ${expected} belong`);
}

/** The scales of a table's rows. The file is little-endian and its buffer may start at any byte: a copy. */
async function readScales(directory: string, count: number): Promise<Float32Array> {
  const bytes = await readTableFile(directory, "scales.f32");
  expectTableSize(directory, "scales.f32", bytes.byteLength, count * Float32Array.BYTES_PER_ELEMENT);
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

function missingFile(directory: string, file: string, error: unknown): Problem {
  return unavailable("missing", `${file} cannot be read from ${directory} (${reasonOf(error)}).`);
}

function unavailable(state: string, reason: string): Problem {
  return problem("UNAVAILABLE", { name: "The embedding table", state, reason });
}
