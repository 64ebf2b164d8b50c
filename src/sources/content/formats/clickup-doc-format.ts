import type { ContentFormat, RawContent, ResourceNode } from "../../../schema/pipeline.ts";
import { type Fields, field, fieldsOf, listOf } from "../../../util/fields.ts";
import { toDocument } from "./markdown-format.ts";
import { paragraphs, readJson, wordsOf } from "./read-json.ts";
import { resourcePath, slug, uniqueName } from "./resource-path.ts";
import { documentFacts, documentPath, type FormatOptions, toNode } from "./to-node.ts";

const MAX_DEPTH = 20;

/** Format for ClickUp documents: one node for the document, below it its nested pages, split by headings. */
export function createClickUpDocFormat(options: FormatOptions = {}): ContentFormat {
  return {
    name: "ClickUpDoc",
    canHandle: (contentType) => contentType === "clickup-doc",
    parse: (content, basePath) => [toDoc(content, documentPath(content, basePath), options)],
  };
}

function toDoc(content: RawContent, path: string, options: FormatOptions): ResourceNode {
  const doc = readJson(content);
  const name = wordsOf(doc, "name") || content.name;
  const taken = new Set(["passages"]);
  const children = listOf(field(doc, "pages")).map((page) =>
    toPage(fieldsOf(page), { content, path, taken, depth: 1, options }),
  );
  const head = `# ${name}`;
  return toNode(
    {
      id: content.id,
      name,
      path,
      type: "doc",
      content: paragraphs(head, ...children.map((child) => child.content)),
      ownText: paragraphs(head, children.map((child) => child.name).join(", ")),
      description: children[0]?.description,
      isBare: children.length === 0,
      metadata: { ...documentFacts(content), pages: children.length },
      children,
    },
    options,
  );
}

interface PagePlace {
  readonly content: RawContent;
  readonly path: string;
  readonly taken: Set<string>;
  readonly depth: number;
  readonly options: FormatOptions;
}

function toPage(page: Fields, place: PagePlace): ResourceNode {
  const name = wordsOf(page, "name") || "Untitled";
  const id = wordsOf(page, "id");
  const path = resourcePath(place.path, uniqueName(slug(name), place.taken));
  const raw = { ...place.content, id: `${place.content.id}#${id}`, name, content: wordsOf(page, "content") };
  const node = toDocument(raw, path, place.options);
  const taken = new Set(["passages", ...(node.children ?? []).map((child) => lastSegment(child.path))]);
  const under = place.depth < MAX_DEPTH ? listOf(field(page, "pages")) : [];
  const pages = under.map((child) =>
    toPage(fieldsOf(child), { ...place, path, taken, depth: place.depth + 1 }),
  );
  return {
    ...node,
    name,
    searchText: `${name}\n${node.searchText ?? node.content}`,
    content: paragraphs(`## ${name}`, node.content, ...pages.map((child) => child.content)),
    metadata: { ...node.metadata, resource_type: "page", page_id: id },
    children: [...(node.children ?? []), ...pages],
  };
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
