import type { ContentFormat, RawContent, ResourceNode } from "../../../schema/pipeline.ts";
import { field, textOf } from "../../../util/fields.ts";
import { toSummary } from "../../../util/to-summary.ts";
import { toVisibleText } from "../../../util/visible-text.ts";
import { frontMatter } from "./front-matter.ts";
import { markdownSections, type Section } from "./markdown-sections.ts";
import { resourcePath, slug, uniqueName } from "./resource-path.ts";
import { documentFacts, documentPath, type FormatOptions, toNode } from "./to-node.ts";

const MARKDOWN = /^(?:text\/(?:x-)?markdown|markdown|md)\b/i;

/** Format for Markdown: one node for the document, below it nested nodes for its headings. */
export function createMarkdownFormat(options: FormatOptions = {}): ContentFormat {
  return {
    name: "Markdown",
    canHandle: (contentType) => MARKDOWN.test(contentType),
    parse: (content, basePath) => [toDocument(content, documentPath(content, basePath), options)],
  };
}

/** Returns the node of a document, for formats that contain Markdown. */
export function toDocument(content: RawContent, path: string, options: FormatOptions): ResourceNode {
  const text = toVisibleText(content.content);
  const { fields, start } = frontMatter(text);
  const sections = markdownSections(text.slice(start)).map((section) => shifted(section, start));
  const [title] = sections;
  // A single top heading is the title of the document, not a section.
  const isTitled = sections.length === 1 && text.slice(start, title!.start).trim() === "";
  const parts = isTitled ? title!.children : sections;
  const name = textOf(field(fields, "title")) ?? (isTitled ? title!.title : content.name);
  const taken = new Set(["passages"]);
  const toSection = (section: Section) =>
    sectionNode(section, { content, text, path, taken, headings: [name], options });
  const children = parts.map(toSection);
  return toNode(
    {
      id: content.id,
      name,
      path,
      type: "document",
      content: text,
      ownText: text.slice(isTitled ? title!.start : start, parts[0]?.start ?? text.length),
      description:
        textOf(field(fields, "description")) ?? summaryOf(text, isTitled ? title!.bodyStart : start, parts),
      metadata: documentFacts(content),
      children,
    },
    options,
  );
}

interface Place {
  readonly content: RawContent;
  readonly text: string;
  readonly path: string;
  /** Path segments of its siblings. */
  readonly taken: Set<string>;
  readonly headings: readonly string[];
  readonly options: FormatOptions;
}

function sectionNode(section: Section, place: Place): ResourceNode {
  const path = resourcePath(place.path, uniqueName(slug(section.title), place.taken));
  const headings = [...place.headings, section.title];
  const taken = new Set(["passages"]);
  const children = section.children.map((child) => sectionNode(child, { ...place, path, taken, headings }));
  return toNode(
    {
      id: `${place.content.id}#${path}`,
      name: section.title,
      path,
      type: "section",
      content: place.text.slice(section.start, section.end),
      ownText: place.text.slice(section.start, section.ownEnd),
      description:
        summaryOf(place.text, section.bodyStart, section.children, section.ownEnd) ?? headings.join(" > "),
      metadata: { ...documentFacts(place.content), heading_path: headings.join(" > ") },
      heading: headings.join(" > "),
      children,
    },
    place.options,
  );
}

/** Returns the first sentence of a section, or of its first subsection that has one. */
function summaryOf(
  text: string,
  from: number,
  parts: readonly Section[],
  end = parts[0]?.start ?? text.length,
): string | undefined {
  const own = toSummary(text.slice(from, end));
  if (own !== "") return own;
  const [first] = parts;
  return first && summaryOf(text, first.bodyStart, first.children, first.ownEnd);
}

function shifted(section: Section, by: number): Section {
  return {
    ...section,
    start: section.start + by,
    bodyStart: section.bodyStart + by,
    ownEnd: section.ownEnd + by,
    end: section.end + by,
    children: section.children.map((child) => shifted(child, by)),
  };
}
