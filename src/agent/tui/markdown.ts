interface Span {
  readonly text: string;
  readonly style: "plain" | "bold" | "italic" | "code" | "link";
}

/** A block of Markdown that a terminal can show. */
export type MarkdownPart =
  | { readonly kind: "heading" | "paragraph" | "quote"; readonly spans: readonly Span[] }
  | { readonly kind: "item"; readonly mark: string; readonly indent: number; readonly spans: readonly Span[] }
  | { readonly kind: "code"; readonly language: string; readonly lines: readonly string[] }
  | { readonly kind: "table"; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: "rule" | "gap" };

/** Parses headings, lists, quotes, code, rules and paragraphs. Everything else stays text. */
export function readMarkdown(text: string): MarkdownPart[] {
  const lines = text.split("\n");
  const parts: MarkdownPart[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const mark = fenceMark(line);
    if (mark === undefined && isRow(line) && isDivider(lines[at + 1] ?? "")) {
      const rows = [cellsOf(line)];
      at += 1;
      while (isRow(lines[at + 1] ?? "")) rows.push(cellsOf(lines[++at]!));
      parts.push({ kind: "table", rows });
      continue;
    }
    if (mark === undefined) {
      parts.push(readLine(line));
      continue;
    }
    const code: string[] = [];
    while (at + 1 < lines.length && !closes(lines[at + 1]!, mark)) code.push(lines[++at]!);
    at += 1;
    parts.push({ kind: "code", language: line.trim().slice(mark.length).trim(), lines: code });
  }
  return parts;
}

function isRow(line: string): boolean {
  return line.trim().startsWith("|") && line.trim().length > 1;
}

function isDivider(line: string): boolean {
  return line.includes("-") && /^\|?[\s:|-]+$/.test(line.trim());
}

/** The texts of the cells, without marks. */
function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) =>
    readSpans(cell.trim().replaceAll("\\|", "|"))
      .map(({ text }) => text)
      .join(""),
  );
}

/** Whether a line ends the code that a fence has opened. */
function closes(line: string, fence: string): boolean {
  const mark = fenceMark(line);
  return line.trim() === mark && mark.startsWith(fence);
}

function readLine(line: string): MarkdownPart {
  const trimmed = line.trim();
  if (trimmed === "") return { kind: "gap" };
  if (/^(?:-{3,}|\*{3,}|_{3,})$/.test(trimmed)) return { kind: "rule" };
  const heading = /^#{1,6}\s/.exec(trimmed);
  if (heading) return { kind: "heading", spans: readSpans(trimmed.slice(heading[0].length).trim()) };
  if (trimmed.startsWith("> ")) return { kind: "quote", spans: readSpans(trimmed.slice(2)) };
  const item = /^([-*+]|\d{1,9}[.)])\s/.exec(trimmed);
  if (!item) return { kind: "paragraph", spans: readSpans(line.trimEnd()) };
  const indent = Math.min(8, line.length - line.trimStart().length);
  const mark = /\d/.test(item[1]!) ? item[1]! : "•";
  return { kind: "item", mark, indent, spans: readSpans(trimmed.slice(item[0].length)) };
}

const MOST_LINK_CHARS = 2_000;

const MARKS: readonly (readonly [mark: string, style: Span["style"]])[] = [
  ["**", "bold"],
  ["__", "bold"],
  ["*", "italic"],
  ["_", "italic"],
];

/** Parses in one pass from left to right. A mark without its end is text. */
export function readSpans(text: string): Span[] {
  const spans: Span[] = [];
  // Once a search for a closing mark fails, it fails for the rest of the text.
  const missing = new Set<string>();
  let plain = "";
  let at = 0;

  function take(span: Span, end: number): void {
    if (plain !== "") spans.push({ text: plain, style: "plain" });
    plain = "";
    spans.push(span);
    at = end;
  }

  while (at < text.length) {
    const character = text[at]!;
    if (character === "\\" && /[\\`*_[\]#]/.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
      continue;
    }
    const next = "`*_[".includes(character) ? readSpan(text, at, missing) : undefined;
    if (next) take(next.span, next.end);
    else {
      plain += character;
      at += 1;
    }
  }
  if (plain !== "") spans.push({ text: plain, style: "plain" });
  return spans;
}

interface FoundSpan {
  readonly span: Span;
  readonly end: number;
}

function readSpan(text: string, at: number, missing: Set<string>): FoundSpan | undefined {
  if (text[at] === "`") return between(text, at, "`", "code", missing);
  if (text[at] === "[") return readLink(text, at);
  // An underscore inside a word belongs to a name.
  if (text[at] === "_" && /\w/.test(text[at - 1] ?? "")) return undefined;
  for (const [mark, style] of MARKS) {
    if (!text.startsWith(mark, at) || /\s/.test(text[at + mark.length] ?? " ")) continue;
    const span = between(text, at, mark, style, missing);
    if (span) return span;
  }
  return undefined;
}

function between(
  text: string,
  at: number,
  mark: string,
  style: Span["style"],
  missing: Set<string>,
): FoundSpan | undefined {
  if (missing.has(mark)) return undefined;
  const start = at + mark.length;
  const end = text.indexOf(mark, start);
  if (end === -1) missing.add(mark);
  if (end <= start) return undefined;
  return { span: { text: text.slice(start, end), style }, end: end + mark.length };
}

/** Always shows the address, because a link's text may mislead. */
function readLink(text: string, at: number): FoundSpan | undefined {
  const link = text.slice(at, at + MOST_LINK_CHARS);
  const middle = link.indexOf("](");
  const end = link.indexOf(")", middle);
  const inner = link.indexOf("[", 1);
  if (middle === -1 || end === -1 || (inner !== -1 && inner < middle)) return undefined;
  const label = link.slice(1, middle);
  const address = link.slice(middle + 2, end);
  const shown = label === address || label === "" ? address : `${label} (${address})`;
  return { span: { text: shown, style: "link" }, end: at + end + 1 };
}

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
  if (fenceMark(line) === undefined) return fence;
  if (fence === undefined) return line.trim();
  return closes(line, fenceMark(fence)!) ? undefined : fence;
}

/** The three or more backticks or tildes that start the line. */
function fenceMark(line: string): string | undefined {
  return /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
}
