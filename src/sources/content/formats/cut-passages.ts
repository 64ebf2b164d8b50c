/** How long a passage may be, in UTF-16 units: about what a reader takes in, and an embedder too. */
export const PASSAGE_CHARS = 1_200;
const FEWEST_CHARS = 16;

/**
 * Cuts a text into passages of at most `maxChars`: where a paragraph ends, or else a line, a sentence, a
 * word. Put together they are the text again. Only a word that is longer than a passage is cut itself.
 */
export function cutPassages(text: string, maxChars = PASSAGE_CHARS): string[] {
  const limit = Math.max(FEWEST_CHARS, Math.floor(maxChars) || PASSAGE_CHARS);
  const passages: string[] = [];
  let from = 0;
  while (text.length - from > limit) {
    const end = from + cutAt(text.slice(from, from + limit + 1), limit);
    passages.push(text.slice(from, end));
    from = end;
  }
  if (from < text.length) passages.push(text.slice(from));
  return passages;
}

/** Blanks stay with what stands before them. An end in the first half would make passages too short to tell much. */
const ENDS: readonly RegExp[] = [/\n[^\S\n]{0,80}\n+/g, /\n/g, /[.!?]\s+|[。！？｡]/gu, /\s+/gu];

/** Where to cut a window that is one longer than the limit, so that a break right after it is seen. */
function cutAt(window: string, limit: number): number {
  for (const end of ENDS) {
    const at = lastEnd(window, end, limit);
    if (at > limit / 2) return at;
  }
  const word = lastEnd(window, /\s+/gu, limit);
  return word > 0 ? word : boundaryBefore(window, limit);
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

/** Never between the halves of a character, nor before a mark that belongs to the one before. */
function boundaryBefore(window: string, limit: number): number {
  let at = limit;
  while (at > limit / 2 && /[\p{M}\u200d\ufe0f]/u.test(window[at] ?? "")) at -= 1;
  const isSplit = /[\ud800-\udbff]/.test(window[at - 1] ?? "") && /[\udc00-\udfff]/.test(window[at] ?? "");
  return isSplit ? at - 1 : at;
}
