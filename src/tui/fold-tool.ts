/** A result on one line: its first line, and the number of lines. */
export function foldResult(text: string): string {
  const lines = text.trim().split("\n");
  const first = lines[0] === "" ? "nothing" : lines[0]!.replaceAll("\t", " ");
  return lines.length === 1 ? first : `(${lines.length} lines) ${first}`;
}

const SHOWN_LINES = 4;

/** The first lines of a result, and how many more there are. */
export function foldLines(text: string, tool = "", failed = false): string[] {
  const lines = text.trim().split("\n").map(flat);
  if (tool === "todo") return lines;
  if (lines.length === 1) return [lines[0] === "" ? "nothing" : lines[0]!];
  if (lines.length <= SHOWN_LINES) return lines;
  const hidden = `${lines.length - SHOWN_LINES + 1} more lines, Ctrl-O shows all`;
  // The end of a failure says why.
  if (failed) return [`… ${hidden}`, ...lines.slice(1 - SHOWN_LINES)];
  const first = lines.slice(0, SHOWN_LINES - 1);
  return [...first, `… ${hidden}`];
}

/** The last lines of an output that still grows. */
export function lastLines(text: string): string[] {
  return text.trimEnd().split("\n").slice(-SHOWN_LINES).map(flat);
}

function flat(line: string): string {
  return line.replaceAll("\t", "  ");
}

export function toDuration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
