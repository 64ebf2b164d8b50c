const WINDOW_BEFORE = 256;
const WINDOW_AFTER = 32;
/** Created on first use, which takes milliseconds. */
let graphemes: Intl.Segmenter | undefined;

/** Cuts text to `maxChars` UTF-16 units, ellipsis included. Never splits a visible character. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  if (maxChars < 1) return "";
  return `${text.slice(0, boundaryBefore(text, Math.floor(maxChars) - 1))}…`;
}

/** The last position up to `end` that splits no visible character. Looks only at a window, for constant cost. */
export function boundaryBefore(text: string, end: number): number {
  const start = codePointBoundary(text, Math.max(0, end - WINDOW_BEFORE));
  const window = text.slice(start, end + WINDOW_AFTER);
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  const index = graphemes.segment(window).containing(end - start)?.index ?? 0;
  // A cluster that fills the window is a pile of combining marks, which may be split.
  if (index === 0 && end - start >= WINDOW_BEFORE) return codePointBoundary(text, end);
  return start + index;
}

/** The index, or the one before if it would split a surrogate pair. */
export function codePointBoundary(text: string, index: number): number {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff ? index - 1 : index;
}
