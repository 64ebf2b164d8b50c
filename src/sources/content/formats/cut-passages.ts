import { boundaryBefore, codePointBoundary } from "../../../util/cut-text.ts";

/** How long a passage may be, in UTF-16 units: about what a reader takes in, and an embedder too. */
export const PASSAGE_CHARS = 1_200;
const FEWEST_CHARS = 16;
const LOOK_AHEAD = 32;

/**
 * Cuts a text into passages of at most `maxChars`: where a paragraph ends, or else a line, a sentence, a
 * word. Put together they are the text again. Only a word that is longer than a passage is cut itself.
 */
export function cutPassages(text: string, maxChars = PASSAGE_CHARS): string[] {
  const limit = Math.max(FEWEST_CHARS, Math.floor(maxChars) || PASSAGE_CHARS);
  const passages: string[] = [];
  let from = 0;
  while (text.length - from > limit) {
    const end = from + cutAt(text.slice(from, from + limit + LOOK_AHEAD), limit);
    passages.push(text.slice(from, end));
    from = end;
  }
  if (from < text.length) passages.push(text.slice(from));
  return passages;
}

/** Blanks stay with what stands before them. An end in the first half would make passages too short to tell much. */
const ENDS: readonly RegExp[] = [/\n[^\S\n]{0,80}\n+/g, /\n/g, /(?<=[.!?])\s+|(?<=[。！？｡])/gu, /\s+/gu];

/** Where to cut a window that is longer than the limit, so that what comes right after it is seen. */
function cutAt(window: string, limit: number): number {
  for (const end of ENDS) {
    const at = lastEnd(window, end, limit);
    if (at > limit / 2) return at;
  }
  const word = lastEnd(window, /\s+/gu, limit);
  if (word > 0) return word;
  const character = boundaryBefore(window, limit);
  return character > 0 ? character : codePointBoundary(window, limit);
}

function lastEnd(window: string, pattern: RegExp, limit: number): number {
  let last = 0;
  for (const match of window.matchAll(pattern)) {
    const end = match.index + match[0].length;
    if (end <= limit) last = end;
    else if (match.index > 0 && match.index <= limit) last = Math.max(last, match.index);
  }
  return last;
}
