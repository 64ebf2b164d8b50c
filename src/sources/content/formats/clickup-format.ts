import { field, fieldsOf, listOf, type PlainObject } from "../../../base/util/plain-object.ts";
import { toSummary } from "../../../base/util/to-summary.ts";
import { uniqueName } from "../../../base/util/unique-name.ts";
import type { ResourceNode } from "../../../core/nouns/pipeline.ts";
import { toDocument } from "./markdown-format.ts";
import {
  defineFormat,
  type FormatDocument,
  labelled,
  paragraphs,
  readJson,
  resourcePath,
  slug,
  toNode,
  wordsOf,
} from "./to-node.ts";

const MAX_DEPTH = 20;

export const createClickUpDocFormat = defineFormat("ClickUpDoc", /^clickup-doc$/, toDoc);

function toDoc(document: FormatDocument): ResourceNode {
  const { content } = document;
  const doc = readJson(content);
  const name = wordsOf(doc, "name") || content.name;
  const taken = new Set(["passages"]);
  const children = listOf(field(doc, "pages")).map((page) =>
    toPage(fieldsOf(page), { ...document, taken, depth: 1 }),
  );
  const head = `# ${name}`;
  return toNode(document, {
    name,
    type: "doc",
    content: paragraphs(head, ...children.map((child) => child.content)),
    ownText: paragraphs(head, children.map((child) => child.name).join(", ")),
    description: children[0]?.description,
    isBare: children.length === 0,
    metadata: { pages: children.length },
    children,
  });
}

interface PagePlace extends FormatDocument {
  readonly taken: Set<string>;
  readonly depth: number;
}

function toPage(page: PlainObject, place: PagePlace): ResourceNode {
  const name = wordsOf(page, "name") || "Untitled";
  const id = wordsOf(page, "id");
  const path = resourcePath(place.path, uniqueName(slug(name), place.taken));
  const content = {
    ...place.content,
    id: `${place.content.id}#${id}`,
    name,
    content: wordsOf(page, "content"),
  };
  const node = toDocument({ ...place, content, path });
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

export const createClickUpTaskFormat = defineFormat("ClickUpTask", /^clickup-(?:task|list)$/, toTask);

function toTask(document: FormatDocument): ResourceNode {
  const { content } = document;
  const task = readJson(content);
  const name = wordsOf(task, "name") || content.name;
  const body =
    wordsOf(task, "markdown_description") || wordsOf(task, "text_content") || wordsOf(task, "content");
  const status = wordsOf(field(task, "status"), "status");
  const assignees = listOf(field(task, "assignees")).map((person) => wordsOf(person, "username"));
  const tags = listOf(field(task, "tags")).map((tag) => wordsOf(tag, "name"));
  const statuses = listOf(field(task, "statuses")).map((one) => wordsOf(one, "status"));
  const items = listOf(field(task, "checklists")).flatMap((checklist) =>
    listOf(field(checklist, "items")).map(
      (item) => `- [${field(item, "resolved") === true ? "x" : " "}] ${wordsOf(item, "name")}`,
    ),
  );
  return toNode(document, {
    name,
    type: content.contentType === "clickup-list" ? "list" : "task",
    content: paragraphs(
      `# ${name}`,
      labelled({
        Status: status,
        Statuses: statuses.join(", "),
        Priority: wordsOf(field(task, "priority"), "priority"),
        Assignees: assignees.join(", "),
        Tags: tags.join(", "),
        List: wordsOf(field(task, "list"), "name"),
        Due: dateOf(wordsOf(task, "due_date")),
        Address: wordsOf(task, "url"),
      }),
      body,
      items.join("\n"),
    ),
    description: toSummary(body) || name,
    isBare: body === "",
    metadata: { ...(status && { status }), ...(tags.length > 0 && { tags }) },
  });
}

/** ClickUp writes times as text with epoch milliseconds. */
function dateOf(ms: string): string {
  return /^\d{10,14}$/.test(ms) ? new Date(Number(ms)).toISOString() : "";
}
