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
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

let loading: Promise<TokenCounter> | undefined;

async function load(): Promise<TokenCounter> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  return (text) => {
    let count = 0;
    for (const piece of toPieces(text)) count += countTokens(piece, AS_ORDINARY_TEXT);
    return count;
  };
}

/** Without this option, text that spells a special token is refused. */
const AS_ORDINARY_TEXT = { disallowedSpecial: new Set<string>() };

const MAX_RUN = 256;
const PIECE_LENGTH = 100_000;

/**
 * Byte pair encoding takes quadratic time on an unbroken run of letters, marks or blanks, so long runs are cut. A
 * cut adds at most a token or two; a cut before a blank adds none, because the vocabulary's words begin there.
 */
function* toPieces(text: string): Generator<string> {
  if (text.length <= MAX_RUN) {
    yield text;
    return;
  }
  let start = 0;
  for (const { 0: run, index } of text.matchAll(RUNS)) {
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
const RUNS = /\p{L}[\p{L}\p{M}]{0,255}|[^\s\p{L}\p{N}]{1,256}|\s{1,256}|\p{N}{1,255}/gu;
