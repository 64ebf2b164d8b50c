import { Text } from "ink";
import { createElement as h, type ReactNode } from "react";
import { type MarkdownPart, readMarkdown } from "./markdown.ts";
import { colour, column, marked } from "./terminal-text.ts";
import { cellsOf, wrapHard } from "./wrap-text.ts";

/** Shows Markdown in a terminal. */
export function MarkdownView({ text, columns }: { text: string; columns: number }): ReactNode {
  return column(
    {},
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
      return marked(h(Text, { dimColor: true }, "│ "), h(Text, { italic: true }, toTexts(part.spans)));
    case "item":
      return marked(h(Text, null, `${part.mark} `), h(Text, null, toTexts(part.spans)), {
        paddingLeft: part.indent,
      });
    case "table":
      return tableLines(part.rows, columns).map((line, index) =>
        h(Text, { key: index, wrap: "truncate", bold: index === 0 }, line),
      );
    case "code":
      return column(
        { paddingLeft: 2 },
        part.lines.map((line, index) =>
          h(
            Text,
            { key: index, wrap: "hard" },
            toTexts(highlight(line.replaceAll("\t", "  ") || " ", part.language)),
          ),
        ),
      );
  }
}

const STYLES = {
  plain: {},
  bold: { bold: true },
  italic: { italic: true },
  code: { bold: true, ...colour("green") },
  link: { underline: true, ...colour("blue") },
  comment: { dimColor: true },
  string: colour("green"),
  word: colour("cyan"),
  number: colour("yellow"),
};

interface StyledText {
  readonly text: string;
  readonly style: keyof typeof STYLES;
}

function toTexts(pieces: readonly StyledText[]): ReactNode[] {
  return pieces.map(({ text, style }, index) => h(Text, { key: index, ...STYLES[style] }, text));
}

const WORDS = new Set(
  [
    "abstract and as async await begin break case catch class const continue def default defer delete do elif else end",
    "enum except export extends false final finally fn for from func function go if impl import in instanceof",
    "interface is lambda let loop match mod module mut namespace new nil none not null of or package pass private",
    "protected pub public raise readonly return self static struct super switch then this throw trait true try type",
    "typeof undefined unless until use using var void when where while with yield select insert update where",
  ].flatMap((line) => line.split(" ")),
);
/** Languages whose comments start with a hash. */
const HASH =
  /^(?:py|python|rb|ruby|sh|bash|zsh|shell|console|ya?ml|toml|ini|make|makefile|dockerfile|perl|r)$/i;
const PIECES =
  /(\/\/.*|--\s.*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|([A-Za-z_$][\w$]*)|(\d[\w.]*)/g;
const PIECES_HASH = new RegExp(PIECES.source.replace(/^\([^)]*\)/, "(#.*)"), "g");
/** Longer lines are no code that a person wrote. */
const MOST_CHARS = 2_000;

/** Splits a line of code for colours. Line by line: a comment or text over several lines stays plain. */
function highlight(line: string, language: string): StyledText[] {
  if (line.length > MOST_CHARS || language === "" || /^(?:text|txt|diff)$/i.test(language))
    return [{ text: line, style: "plain" }];
  const pieces: StyledText[] = [];
  let at = 0;
  for (const match of line.matchAll(HASH.test(language) ? PIECES_HASH : PIECES)) {
    const [text, comment, string, word] = match;
    if (word !== undefined && !WORDS.has(word.toLowerCase())) continue;
    if (match.index > at) pieces.push({ text: line.slice(at, match.index), style: "plain" });
    const style =
      comment !== undefined ? "comment" : string !== undefined ? "string" : word ? "word" : "number";
    pieces.push({ text, style });
    at = match.index + text.length;
  }
  if (at < line.length) pieces.push({ text: line.slice(at), style: "plain" });
  return pieces;
}

const GAP = "  ";
/** Narrower columns are unreadable; the table becomes a list then. */
const LEAST = 6;

/** A table as aligned lines that fit the window, the head first; in a narrow window one line for each cell. */
function tableLines(rows: readonly (readonly string[])[], columns: number): string[] {
  const [head = [], ...body] = rows;
  const count = Math.max(1, ...rows.map((row) => row.length));
  const cells = (row: readonly string[]) => Array.from({ length: count }, (_, at) => row[at] ?? "");
  const wanted = cells([]).map((_, at) => Math.max(1, ...rows.map((row) => cellsOf(row[at] ?? ""))));
  const widths = narrow(wanted, columns - GAP.length * (count - 1));
  if (widths.some((width, at) => width < Math.min(LEAST, wanted[at]!))) {
    return body.flatMap((row) => cells(row).map((cell, at) => `${head[at] ?? ""}: ${cell}`));
  }
  const toLines = (row: readonly string[]) => {
    const wrapped = cells(row).map((cell, at) => wrapHard(cell, widths[at]!));
    const height = Math.max(...wrapped.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) =>
      wrapped
        .map((lines, at) => pad(lines[line] ?? "", widths[at]!))
        .join(GAP)
        .trimEnd(),
    );
  };
  return [...toLines(head), widths.map((width) => "─".repeat(width)).join(GAP), ...body.flatMap(toLines)];
}

/** Takes room from the widest columns until all fit. */
function narrow(wanted: readonly number[], room: number): number[] {
  const widths = [...wanted];
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest]! <= 1) break;
    widths[widest] = widths[widest]! - 1;
    over -= 1;
  }
  return widths;
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - cellsOf(text)));
}
