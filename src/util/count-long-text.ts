import type { TokenCounter } from "./tokens.ts";

const LONG_CHARS = 400_000;
const PARTS = 20;
const PART_CHARS = 10_000;

/** Counts the tokens of a text. A text of megabytes is estimated by parts of it, for counting takes long. */
export function countLongText(text: string, countTokens: TokenCounter): number {
  if (text.length <= LONG_CHARS) return countTokens(text);
  let tokens = 0;
  for (let part = 0; part < PARTS; part += 1) {
    const start = Math.floor((part * text.length) / PARTS);
    tokens += countTokens(text.slice(start, start + PART_CHARS));
  }
  return Math.round((tokens * text.length) / (PARTS * PART_CHARS));
}
