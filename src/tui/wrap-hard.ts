const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Wraps text into lines of at most `columns` cells and keeps every character. A character beyond ASCII counts as
 * two cells, so a line may be shorter than possible, but never wider.
 */
export function wrapHard(text: string, columns: number): string[] {
  const width = Math.max(2, columns);
  return text.split("\n").flatMap((line) => wrapLine(line.replaceAll("\t", "    "), width));
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = "";
  let used = 0;
  for (const { segment } of graphemes.segment(line)) {
    const cells = segment.length === 1 && segment <= "~" ? 1 : 2;
    if (used + cells > width) {
      lines.push(current);
      current = "";
      used = 0;
    }
    current += segment;
    used += cells;
  }
  return [...lines, current];
}
