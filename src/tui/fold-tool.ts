/** A result on one line: its first line, and the number of lines. */
export function foldResult(text: string): string {
  const lines = text.trim().split("\n");
  const first = lines[0] === "" ? "nothing" : lines[0]!.replaceAll("\t", " ");
  return lines.length === 1 ? first : `(${lines.length} lines) ${first}`;
}

export function toDuration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
