import { readFile } from "node:fs/promises";
import { lazy } from "../util/lazy.ts";
import { packagedFile } from "../util/packaged-file.ts";
import { NO_TOKEN, openTokenTable, type TokenTable } from "./token-table.ts";

/** Counts the tokens of a text. See {@link loadTokenCounter}. */
export type TokenCounter = (text: string) => number;

/**
 * Loads a counter of o200k tokens, once. The counter never throws and takes linear time.
 *
 * @example
 * ```ts
 * import { loadTokenCounter } from "keyhole";
 *
 * const countTokens = await loadTokenCounter();
 * console.assert(countTokens("Hello world") === 2);
 * ```
 */
export function loadTokenCounter(): Promise<TokenCounter> {
  if (loading) return loading;
  loading = load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  // A caller may fail before it awaits the counter.
  loading.catch(() => {});
  return loading;
}

let loading: Promise<TokenCounter> | undefined;

const TABLE = "models/o200k/tokens.bin";

async function load(): Promise<TokenCounter> {
  const countTokens = createMerger(openTokenTable(await readFile((await packagedFile(TABLE)) ?? TABLE)));
  const encoder = new TextEncoder();
  const long = new Map<string, number>();
  let bytes = new Uint8Array(4 * MAX_RUN);

  function countWord(word: string): number {
    if (bytes.length < 3 * word.length) bytes = new Uint8Array(3 * word.length);
    return countTokens(bytes, toBytes(word));
  }

  /** Returns the number of bytes. The encoder is slow for short words, most of which are ASCII. */
  function toBytes(word: string): number {
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at);
      if (code > 0x7f) return encoder.encodeInto(word, bytes).written;
      bytes[at] = code;
    }
    return word.length;
  }

  /** Cached: long words are slow to count, and text with them repeats them. */
  function countLongWord(word: string): number {
    const cached = long.get(word);
    if (cached !== undefined) return cached;
    const count = countWord(word);
    if (long.size >= MAX_LONG_WORDS) long.clear();
    // A copy, because a slice keeps the whole text in memory.
    long.set(Buffer.from(word, "utf16le").toString("utf16le"), count);
    return count;
  }

  function countPiece(piece: string): number {
    let count = 0;
    for (const word of piece.match(words()) ?? []) {
      count += word.length < LONG_WORD ? countWord(word) : countLongWord(word);
    }
    return count;
  }

  return (text) => {
    // Most texts are short and need neither pieces nor an iterator.
    if (text.length <= MAX_RUN) return countPiece(text);
    let count = 0;
    for (const piece of toPieces(text)) count += countPiece(piece);
    return count;
  };
}

const LONG_WORD = 64;
const MAX_LONG_WORDS = 512;

/** The words of the vocabulary: no token crosses their borders. */
const words = lazy(
  () =>
    new RegExp(
      [
        String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE]))?`,
        String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE]))?`,
        String.raw`\p{N}{1,3}`,
        String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
        String.raw`\s*[\r\n]+`,
        String.raw`\s+(?!\S)`,
        String.raw`\s+`,
      ].join("|"),
      "gu",
    ),
);

const MAX_RUN = 256;
const PIECE_LENGTH = 100_000;

/**
 * Byte pair encoding takes quadratic time on unbroken runs of letters, marks or blanks, so long runs are cut. A cut
 * adds at most a token or two; a cut before a blank adds none, because the vocabulary's words begin there.
 */
function* toPieces(text: string): Generator<string> {
  let start = 0;
  for (const { 0: run, index } of text.matchAll(runs())) {
    const length = index - start;
    if (length >= PIECE_LENGTH && (run.startsWith(" ") || length >= 2 * PIECE_LENGTH)) {
      yield text.slice(start, index);
      start = index;
    }
    if (run.length < MAX_RUN) continue;
    yield text.slice(start, index + run.length);
    start = index + run.length;
  }
  yield text.slice(start);
}

// Bounded repetition limits the stack of the regex engine. Digits are encoded in threes, hence 255.
const runs = lazy(() => /\p{L}[\p{L}\p{M}]{0,255}|[^\s\p{L}\p{N}]{1,256}|\s{1,256}|\p{N}{1,255}/gu);

/**
 * Returns a function that counts the tokens in the first bytes of a buffer: it joins the two neighbours of the lowest
 * rank until no two form a token. Only for short words: time grows with the square of their length.
 */
function createMerger(table: TokenTable): (bytes: Uint8Array, length: number) => number {
  // A part runs from one start to the next. `ranks` has the rank of each part joined with its neighbour.
  let starts = new Uint32Array(0);
  let ranks = new Uint32Array(0);

  function rankAt(bytes: Uint8Array, part: number, parts: number): number {
    return part + 2 > parts ? NO_TOKEN : table.rank(bytes, starts[part]!, starts[part + 2]!);
  }

  return (bytes, length) => {
    if (length < 2 || table.rank(bytes, 0, length) !== NO_TOKEN) return Math.min(length, 1);
    if (ranks.length < length) {
      starts = new Uint32Array(2 * length + 1);
      ranks = new Uint32Array(2 * length);
    }
    let parts = length;
    for (let part = 0; part <= parts; part++) starts[part] = part;
    for (let part = 0; part < parts; part++) ranks[part] = rankAt(bytes, part, parts);
    while (parts > 1) {
      let lowest = 0;
      for (let part = 1; part < parts - 1; part++) if (ranks[part]! < ranks[lowest]!) lowest = part;
      if (ranks[lowest] === NO_TOKEN) break;
      for (let part = lowest + 1; part < parts; part++) {
        starts[part] = starts[part + 1]!;
        ranks[part] = ranks[part + 1]!;
      }
      parts--;
      ranks[lowest] = rankAt(bytes, lowest, parts);
      if (lowest > 0) ranks[lowest - 1] = rankAt(bytes, lowest - 1, parts);
    }
    return parts;
  };
}

const LONG_CHARS = 400_000;
const PARTS = 20;
const PART_CHARS = 10_000;

/** Counts the tokens of a text. Estimates megabytes from samples, because counting takes long. */
export function countLongText(text: string, countTokens: TokenCounter): number {
  if (text.length <= LONG_CHARS) return countTokens(text);
  let tokens = 0;
  for (let part = 0; part < PARTS; part += 1) {
    const start = Math.floor((part * text.length) / PARTS);
    tokens += countTokens(text.slice(start, start + PART_CHARS));
  }
  return Math.round((tokens * text.length) / (PARTS * PART_CHARS));
}
