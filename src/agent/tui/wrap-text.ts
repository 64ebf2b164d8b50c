const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

const TAB = "    ";

const WIDE =
  /[\p{Emoji_Presentation}\p{Extended_Pictographic}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\u3000-\u303e\uff01-\uff60]/u;

/** The cells that most terminals give a text. */
export function cellsOf(text: string): number {
  let cells = 0;
  for (const { segment } of graphemes.segment(text)) cells += WIDE.test(segment) ? 2 : 1;
  return cells;
}

/**
 * Wraps text into lines of at most `columns` cells and keeps every character. A character beyond ASCII counts as
 * two cells, so a line may be shorter than possible, but never wider.
 */
export function wrapHard(text: string, columns: number): string[] {
  const width = Math.max(2, columns);
  return text.split("\n").flatMap((line) => wrapLine(line.replaceAll("\t", TAB), width));
}

/** Like {@link wrapHard}, but breaks between words and keeps the indentation. Spaces at a break are dropped. */
export function wrapWords(text: string, columns: number): string[] {
  const width = Math.max(2, columns);
  return text.split(/\r?\n/).flatMap((line) => wrapLineAtWords(line.replaceAll("\t", TAB), width));
}

function wrapLineAtWords(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = "";
  for (const part of line.match(/\s+|\S+/g) ?? []) {
    if (widestOf(current + part) <= width) {
      current += part;
      continue;
    }
    if (current.trim() !== "") lines.push(current.trimEnd());
    const pieces = wrapLine(part.trimStart(), width);
    lines.push(...pieces.slice(0, -1));
    current = pieces.at(-1) ?? "";
  }
  return current === "" && lines.length > 0 ? lines : [...lines, current.trimEnd()];
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = "";
  let used = 0;
  for (const { segment } of graphemes.segment(line)) {
    const cells = mostCells(segment);
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

function widestOf(text: string): number {
  let cells = 0;
  for (const { segment } of graphemes.segment(text)) cells += mostCells(segment);
  return cells;
}

function mostCells(segment: string): number {
  return segment.length === 1 && segment <= "~" ? 1 : 2;
}
