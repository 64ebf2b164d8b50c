import { toVisibleText } from "../../../base/safety/visible-text.ts";
import { field, type PlainObject, textOf } from "../../../base/util/plain-object.ts";
import { toSummary } from "../../../base/util/to-summary.ts";
import { uniqueName } from "../../../base/util/unique-name.ts";
import type { ResourceNode } from "../../../core/nouns/pipeline.ts";
import { parseFrontMatter } from "../../markdown/files/front-matter.ts";
import { defineFormat, type FormatDocument, resourcePath, slug, toNode } from "./to-node.ts";

const MARKDOWN = /^(?:text\/(?:x-)?markdown|markdown|md)\b/i;

export const createMarkdownFormat = defineFormat("Markdown", MARKDOWN, toDocument);

/** The node of a Markdown document, also for formats that contain Markdown. */
export function toDocument(document: FormatDocument): ResourceNode {
  const { content } = document;
  const text = toVisibleText(content.content);
  const { fields, start } = frontMatter(text);
  const sections = markdownSections(text, start);
  const [title] = sections;
  // A single top heading is the title of the document, not a section.
  const isTitled = sections.length === 1 && text.slice(start, title!.start).trim() === "";
  const parts = isTitled ? title!.children : sections;
  const name = textOf(field(fields, "title")) ?? (isTitled ? title!.title : content.name);
  const place = { ...document, text, taken: new Set(["passages"]), headings: [name] };
  return toNode(document, {
    name,
    type: "document",
    content: text,
    ownText: text.slice(isTitled ? title!.start : start, parts[0]?.start ?? text.length),
    description:
      textOf(field(fields, "description")) ?? summaryOf(text, isTitled ? title!.bodyStart : start, parts),
    children: parts.map((part) => sectionNode(part, place)),
  });
}

interface HeadingPosition extends FormatDocument {
  readonly text: string;
  /** Path segments of its siblings. */
  readonly taken: Set<string>;
  readonly headings: readonly string[];
}

function sectionNode(section: Section, place: HeadingPosition): ResourceNode {
  const path = resourcePath(place.path, uniqueName(slug(section.title), place.taken));
  const headings = [...place.headings, section.title];
  const heading = headings.join(" > ");
  const below = { ...place, path, taken: new Set(["passages"]), headings };
  return toNode(place, {
    id: `${place.content.id}#${path}`,
    name: section.title,
    path,
    type: "section",
    content: place.text.slice(section.start, section.end),
    ownText: place.text.slice(section.start, section.ownEnd),
    description: summaryOf(place.text, section.bodyStart, section.children, section.ownEnd) ?? heading,
    metadata: { heading_path: heading },
    heading,
    children: section.children.map((child) => sectionNode(child, below)),
  });
}

/** The first sentence of a section, or of its first subsection that has one. */
function summaryOf(
  text: string,
  from: number,
  parts: readonly Section[],
  end = parts[0]?.start ?? text.length,
): string | undefined {
  const summary = toSummary(text.slice(from, end));
  if (summary !== "") return summary;
  const [first] = parts;
  return first && summaryOf(text, first.bodyStart, first.children, first.ownEnd);
}

/** Reads the front matter of a Markdown text, and where the text begins. Unreadable front matter counts as text. */
function frontMatter(text: string): { readonly fields: PlainObject; readonly start: number } {
  try {
    const { data: fields, body } = parseFrontMatter(text, "document");
    if (text.endsWith(body)) return { fields, start: text.length - body.length };
  } catch {}
  return { fields: {}, start: 0 };
}

/** A heading and its text, as positions in the document. */
interface Section {
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

/** The tree of headings. Skips headings in code, and lower levels beyond a few thousand headings. */
function markdownSections(text: string, from: number): readonly Section[] {
  const headings = findHeadings(text, from);
  const level = [6, 5, 4, 3, 2, 1].find(
    (deepest) => headings.filter((heading) => heading.level <= deepest).length <= MAX_HEADINGS,
  );
  return toTree(
    headings.filter((heading) => heading.level <= (level ?? 0)),
    text.length,
  );
}

function findHeadings(text: string, from: number): Heading[] {
  const headings: Heading[] = [];
  let fence = "";
  let previous: { readonly line: string; readonly start: number } | undefined;
  for (const { line, start } of linesOf(text, from)) {
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (fence !== "" || mark !== "") {
      if (fence === "") fence = mark;
      else if (mark.startsWith(fence) && line.trim() === mark) fence = "";
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

function* linesOf(text: string, from: number): Generator<{ readonly line: string; readonly start: number }> {
  for (let start = from; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    yield { line: text.slice(start, end), start };
    start = end + 1;
  }
}

/** The text of a heading without markup. */
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
