import { boundaryBefore, codePointBoundary } from "../../../util/cut-text.ts";

/** Longest passage, in UTF-16 units. It suits readers and embedders. */
export const PASSAGE_CHARS = 1_200;
const FEWEST_CHARS = 16;
const LOOK_AHEAD = 32;

/**
 * Cuts a text into passages of at most `maxChars`, preferably at the end of a paragraph, then of a line, a sentence
 * or a word. Joined, they equal the text. Only a word longer than a passage is cut.
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

/** Blanks stay with the text before them. Ends in the first half would make passages too short. */
const ENDS: readonly RegExp[] = [/\n[^\S\n]{0,80}\n+/g, /\n/g, /(?<=[.!?])\s+|(?<=[。！？｡])/gu, /\s+/gu];

/** Returns where to cut a window. The window is longer than the limit, to see the character after it. */
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
