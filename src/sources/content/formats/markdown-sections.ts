/** A heading and its text, as positions in the document. */
export interface Section {
  readonly level: number;
  readonly title: string;
  readonly start: number;
  /** Start of the text below the heading. */
  readonly bodyStart: number;
  /** End of its own text and start of its first subsection. */
  readonly ownEnd: number;
  readonly end: number;
  readonly children: readonly Section[];
}

type Heading = Pick<Section, "level" | "title" | "start" | "bodyStart">;

const MAX_HEADINGS = 2_000;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ATX = /^ {0,3}(#{1,6})(?:[ \t]|$)/;
const SETEXT = /^ {0,3}(=+|-+)[ \t]*$/;
/** Lines that a following line of hyphens does not turn into a heading. */
const NO_PARAGRAPH = /^(?: {4}|\t|\s*$|\s*(?:[-*+>|]|\d{1,9}[.)])\s| {0,3}#{1,6}\s)/;

/** Returns the tree of headings. Skips headings in code, and lower levels beyond a few thousand headings. */
export function markdownSections(text: string): readonly Section[] {
  const headings = findHeadings(text);
  const level = [6, 5, 4, 3, 2, 1].find(
    (deepest) => headings.filter((heading) => heading.level <= deepest).length <= MAX_HEADINGS,
  );
  return toTree(
    headings.filter((heading) => heading.level <= (level ?? 0)),
    text.length,
  );
}

function findHeadings(text: string): Heading[] {
  const headings: Heading[] = [];
  let fence = "";
  let previous: { readonly line: string; readonly start: number } | undefined;
  for (const { line, start } of linesOf(text)) {
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (fence !== "") {
      if (mark.startsWith(fence) && line.trim() === mark) fence = "";
      previous = undefined;
      continue;
    }
    if (mark !== "") {
      fence = mark;
      previous = undefined;
      continue;
    }
    const marks = ATX.exec(line)?.[1];
    const underline = previous && SETEXT.exec(line)?.[1];
    const bodyStart = Math.min(start + line.length + 1, text.length);
    if (marks) {
      const title = toTitle(line.trim().slice(marks.length));
      headings.push({ level: marks.length, title, start, bodyStart });
    } else if (previous && underline) {
      const level = underline.startsWith("=") ? 1 : 2;
      headings.push({ level, title: toTitle(previous.line), start: previous.start, bodyStart });
    }
    previous = marks || underline || NO_PARAGRAPH.test(line) ? undefined : { line, start };
  }
  return headings;
}

function* linesOf(text: string): Generator<{ readonly line: string; readonly start: number }> {
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    yield { line: text.slice(start, end), start };
    start = end + 1;
  }
}

/** Returns the text of a heading without markup. */
function toTitle(raw: string): string {
  const bare = raw
    .slice(0, 300)
    .trim()
    .replace(/[ \t]#{1,32}$/, "");
  const words = bare.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[*`]|(?<!\w)_|_(?!\w)/g, "");
  return words.trim() || "Untitled";
}

function toTree(headings: readonly Heading[], end: number): Section[] {
  const sections: Section[] = [];
  for (let at = 0; at < headings.length; ) {
    const heading = headings[at]!;
    let next = at + 1;
    while (next < headings.length && headings[next]!.level > heading.level) next += 1;
    const sectionEnd = headings[next]?.start ?? end;
    const children = toTree(headings.slice(at + 1, next), sectionEnd);
    sections.push({ ...heading, ownEnd: children[0]?.start ?? sectionEnd, end: sectionEnd, children });
    at = next;
  }
  return sections;
}
