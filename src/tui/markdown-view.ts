import { Box, Text } from "ink";
import { createElement as h, type ReactNode } from "react";
import { colour } from "./colour.ts";
import { highlight } from "./highlight.ts";
import { type MarkdownPart, readMarkdown, type Span } from "./markdown.ts";
import { tableLines } from "./table-lines.ts";

/** Shows Markdown in a terminal. */
export function MarkdownView({ text, columns }: { text: string; columns: number }): ReactNode {
  return h(
    Box,
    { flexDirection: "column" },
    readMarkdown(text).map((part, index) => h(PartView, { part, columns, key: index })),
  );
}

function PartView({ part, columns }: { part: MarkdownPart; columns: number }): ReactNode {
  switch (part.kind) {
    case "gap":
      return h(Text, null, " ");
    case "rule":
      return h(Text, { dimColor: true }, "────────");
    case "heading":
      return h(Text, { bold: true, ...colour("cyan") }, toTexts(part.spans));
    case "paragraph":
      return h(Text, null, toTexts(part.spans));
    case "quote":
      return h(
        Box,
        null,
        h(Box, { flexShrink: 0 }, h(Text, { dimColor: true }, "│ ")),
        h(Text, { italic: true }, toTexts(part.spans)),
      );
    case "item":
      return h(
        Box,
        { paddingLeft: part.indent },
        h(Box, { flexShrink: 0 }, h(Text, null, `${part.mark} `)),
        h(Text, null, toTexts(part.spans)),
      );
    case "table":
      return tableLines(part.rows, columns).map((line, index) =>
        h(Text, { key: index, wrap: "truncate", bold: index === 0 }, line),
      );
    case "code":
      return h(
        Box,
        { flexDirection: "column", paddingLeft: 2 },
        part.lines.map((line, index) =>
          h(Text, { key: index, wrap: "hard" }, toColours(line.replaceAll("\t", "  ") || " ", part.language)),
        ),
      );
  }
}

const TINTS = { string: colour("green"), word: colour("cyan"), number: colour("yellow") } as const;

function toColours(line: string, language: string): ReactNode[] {
  return highlight(line, language).map(({ text, kind }, index) => {
    const style = kind === "plain" ? {} : kind === "comment" ? { dimColor: true } : TINTS[kind];
    return h(Text, { key: index, ...style }, text);
  });
}

const STYLES: Readonly<Record<Span["style"], object>> = {
  plain: {},
  bold: { bold: true },
  italic: { italic: true },
  code: { inverse: false, bold: true },
  link: { underline: true },
};

function toTexts(spans: readonly Span[]): ReactNode[] {
  return spans.map(({ text, style }, index) => {
    const tint = style === "code" ? colour("green") : style === "link" ? colour("blue") : {};
    return h(Text, { key: index, ...STYLES[style], ...tint }, text);
  });
}
