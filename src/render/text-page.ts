import { boundaryBefore, codePointBoundary } from "../util/cut-text.ts";
import type { Page, PageRequest } from "./page-parts.ts";

/**
 * Takes whole lines from a text. A line that is longer than a page is read by characters. Pages by lines are joined
 * by line breaks, pages by characters by nothing.
 */
export function textPage(text: string, maxChars: number, { offset = 0, limit, unit }: PageRequest): Page {
  const room = Math.max(1, maxChars - 2);
  const lines = countLines(text);
  // An offset past the last line counts characters: the text may be one long line.
  const byChars = unit === "chars" || (unit === undefined && offset >= lines && offset > 0);
  if (byChars) return charsPage(text, offset, Math.min(room, limit ?? room));
  if (offset >= lines) return { content: "", left: [] };

  const start = lineStart(text, offset);
  const end = limit === undefined ? text.length : Math.max(start, lineStart(text, offset + limit) - 1);
  if (offset + (limit ?? lines) >= lines && text.length - start <= room)
    return { content: text.slice(start), left: [] };
  if (end - start <= room && offset + (limit ?? lines) < lines)
    return linesPage(text, start, end, lines, offset);
  const lastBreak = text.lastIndexOf("\n", start + room);
  // A page that would end early because a long line follows goes on into that line.
  if (lastBreak - start < room / 2) return charsPage(text, start, room);
  return linesPage(text, start, lastBreak, lines, offset);
}

/** An empty text has no lines. */
export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

function linesPage(text: string, start: number, end: number, lines: number, offset: number): Page {
  const content = text.slice(start, end);
  const next = offset + Math.max(1, countLines(content));
  return { content, left: [{ path: "", unit: "lines", offset: next, of: lines }] };
}

function charsPage(text: string, offset: number, room: number): Page {
  const start = codePointBoundary(text, Math.min(offset, text.length));
  if (text.length - start <= room) return { content: text.slice(start), left: [] };
  const end = cutBefore(text, start, start + room);
  return {
    content: text.slice(start, end),
    left: [{ path: "", unit: "chars", offset: end, of: text.length }],
  };
}

/** Ends after a line break in the second half, otherwise where no character is split. Always moves on. */
function cutBefore(text: string, start: number, end: number): number {
  const lastBreak = text.lastIndexOf("\n", end - 1) + 1;
  if (lastBreak - start > (end - start) / 2) return lastBreak;
  const cut = boundaryBefore(text, end);
  if (cut > start) return cut;
  const whole = codePointBoundary(text, end);
  return whole > start ? whole : start + 2;
}

function lineStart(text: string, line: number): number {
  let at = 0;
  for (let count = 0; count < line; count++) {
    const next = text.indexOf("\n", at);
    if (next < 0) return text.length + 1;
    at = next + 1;
  }
  return at;
}
