import { readFile } from "node:fs/promises";
import { createMerger } from "./create-merger.ts";
import { lazy } from "./lazy.ts";
import { packagedFile } from "./packaged-file.ts";
import { openTokenTable } from "./token-table.ts";

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
  // A caller may fail before it waits for the counter.
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

  /** Returns the number of bytes. The encoder is slow on short words, and most are ASCII. */
  function toBytes(word: string): number {
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at);
      if (code > 0x7f) return encoder.encodeInto(word, bytes).written;
      bytes[at] = code;
    }
    return word.length;
  }

  /** Long words are slow to count, and text that has them repeats them. */
  function countLongWord(word: string): number {
    const known = long.get(word);
    if (known !== undefined) return known;
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
    // Most texts are short, and need neither pieces nor an iterator.
    if (text.length <= MAX_RUN) return countPiece(text);
    let count = 0;
    for (const piece of toPieces(text)) count += countPiece(piece);
    return count;
  };
}

const LONG_WORD = 64;
const MAX_LONG_WORDS = 512;

/** The words that the vocabulary is made for: no token crosses their borders. */
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
 * Byte pair encoding takes quadratic time on an unbroken run of letters, marks or blanks, so long runs are cut. A
 * cut adds at most a token or two; a cut before a blank adds none, because the vocabulary's words begin there.
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

// Bounded counts keep the regular expression's own stack flat. Digits are encoded in threes, hence 255.
const runs = lazy(() => /\p{L}[\p{L}\p{M}]{0,255}|[^\s\p{L}\p{N}]{1,256}|\s{1,256}|\p{N}{1,255}/gu);
