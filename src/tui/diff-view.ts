import { Box, Text } from "ink";
import { createElement as h, type ReactNode } from "react";
import { colour } from "./colour.ts";

const MOST_LINES = 40;

/** Shows a unified diff. The signs carry the meaning; colour only helps. */
export function DiffView({ diff }: { diff: string }): ReactNode {
  const lines = diff.trimEnd().split("\n");
  const more = lines.length - MOST_LINES;
  return h(
    Box,
    { flexDirection: "column", paddingLeft: 2 },
    lines
      .slice(0, MOST_LINES)
      .map((line, index) =>
        h(Text, { key: index, wrap: "hard", ...tintOf(line) }, line.replaceAll("\t", "  ") || " "),
      ),
    more > 0 ? h(Text, { dimColor: true }, `… ${more} more lines`) : null,
  );
}

/** Colours for a line of a diff. */
export function tintOf(line: string): object {
  if (line.startsWith("+++") || line.startsWith("---")) return { bold: true };
  if (line.startsWith("@@")) return colour("cyan");
  if (line.startsWith("+")) return colour("green");
  return line.startsWith("-") ? colour("red") : { dimColor: true };
}
