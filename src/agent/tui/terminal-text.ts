import { Box, type BoxProps } from "ink";
import { createElement as h, type ReactNode } from "react";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

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

/** Children below each other. */
export function column(props: BoxProps, ...children: readonly ReactNode[]): ReactNode {
  return h(Box, { flexDirection: "column", ...props }, ...children);
}

/** Content behind a mark, which keeps its column when the content wraps. */
export function marked(mark: ReactNode, content: ReactNode, props: BoxProps = {}): ReactNode {
  return h(Box, props, h(Box, { flexShrink: 0 }, mark), content);
}

/** Props for a colour; empty with NO_COLOR. Colour never carries meaning of its own. */
export function colour(name: "cyan" | "green" | "red" | "yellow" | "blue" | "gray"): { color?: string } {
  return process.env.NO_COLOR ? {} : { color: name };
}
