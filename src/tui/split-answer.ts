const MOST_OPEN_CHARS = 4_000;

/**
 * Splits a growing answer at empty lines outside of code, where later text cannot change earlier blocks. The last
 * piece is still open. A long piece without such a place is split at a line.
 */
export function splitAnswer(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let fence: string | undefined;
  let lineStart = 0;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", lineStart)) {
    const line = text.slice(lineStart, end);
    lineStart = end + 1;
    fence = nextFence(fence, line);
    const long = lineStart - start > MOST_OPEN_CHARS;
    if (fence === undefined && (line.trim() === "" || long)) {
      const piece = text.slice(start, end).trimEnd();
      if (piece.trim() !== "") pieces.push(piece);
      start = lineStart;
    } else if (fence !== undefined && long) {
      const mark = fence.slice(0, fence.search(/[^`~]|$/));
      pieces.push(`${text.slice(start, end)}\n${mark}`);
      return [...pieces, ...splitAnswer(`${fence}\n${text.slice(lineStart)}`)];
    }
  }
  return [...pieces, text.slice(start)];
}

/** The opening fence if the text is inside code after this line. */
function nextFence(fence: string | undefined, line: string): string | undefined {
  const mark = fenceMark(line);
  if (mark === undefined) return fence;
  if (fence === undefined) return line.trim();
  const closes =
    fence.startsWith(mark[0]!) && line.trim() === mark && mark.length >= fenceMark(fence)!.length;
  return closes ? undefined : fence;
}

/** The three or more backticks or tildes that start the line. */
export function fenceMark(line: string): string | undefined {
  return /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
}
