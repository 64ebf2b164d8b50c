import type { ContentFormat, RawContent, ResourceNode } from "../../../schema/pipeline.ts";
import { field, listOf } from "../../../util/fields.ts";
import { toSummary } from "../../../util/to-summary.ts";
import { labelled, lines, paragraphs, readJson, wordsOf } from "./read-json.ts";
import { documentFacts, documentPath, type FormatOptions, toNode } from "./to-node.ts";

const TYPES: ReadonlyMap<string, string> = new Map([
  ["clickup-task", "task"],
  ["clickup-list", "list"],
]);

/** Format for ClickUp tasks and lists, as its API returns them. */
export function createClickUpTaskFormat(options: FormatOptions = {}): ContentFormat {
  return {
    name: "ClickUpTask",
    canHandle: (contentType) => TYPES.has(contentType),
    parse: (content, basePath) => [toTask(content, documentPath(content, basePath), options)],
  };
}

function toTask(content: RawContent, path: string, options: FormatOptions): ResourceNode {
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
  const text = paragraphs(
    `# ${name}`,
    lines(
      labelled("Status", status),
      labelled("Statuses", statuses.join(", ")),
      labelled("Priority", wordsOf(field(task, "priority"), "priority")),
      labelled("Assignees", assignees.join(", ")),
      labelled("Tags", tags.join(", ")),
      labelled("List", wordsOf(field(task, "list"), "name")),
      labelled("Due", dateOf(wordsOf(task, "due_date"))),
      labelled("Address", wordsOf(task, "url")),
    ),
    body,
    items.length > 0 && items.join("\n"),
  );
  return toNode(
    {
      id: content.id,
      name,
      path,
      type: TYPES.get(content.contentType) ?? "task",
      content: text,
      description: toSummary(body) || name,
      isBare: body === "",
      metadata: { ...documentFacts(content), ...(status && { status }), ...(tags.length > 0 && { tags }) },
    },
    options,
  );
}

/** ClickUp writes times as text with epoch milliseconds. */
function dateOf(ms: string): string {
  return /^\d{10,14}$/.test(ms) ? new Date(Number(ms)).toISOString() : "";
}
