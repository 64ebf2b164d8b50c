import { field, listOf, type PlainObject } from "../../../base/util/plain-object.ts";
import { toSummary } from "../../../base/util/to-summary.ts";
import type { ResourceNode } from "../../../core/nouns/pipeline.ts";
import {
  type CreateFormat,
  defineFormat,
  documentNode,
  type FormatDocument,
  labelled,
  lines,
  paragraphs,
  readJson,
  wordsOf,
} from "./to-node.ts";

/** Format for commits, as GitHub's API returns them. */
export const createCommitFormat: CreateFormat = defineFormat("Commit", (type) => type === "commit", toCommit);

function toCommit(document: FormatDocument): ResourceNode {
  const { content } = document;
  const value = readJson(content);
  const commit = field(value, "commit");
  const author = field(commit, "author");
  const sha = wordsOf(value, "sha");
  const message = wordsOf(commit, "message");
  const newline = message.indexOf("\n");
  const subject = newline === -1 ? message : message.slice(0, newline).trim();
  const body = newline === -1 ? "" : message.slice(newline).trim();
  const text = paragraphs(
    `# ${subject}`,
    lines(
      labelled("Commit", sha),
      labelled("Author", wordsOf(author, "name")),
      labelled("Date", wordsOf(author, "date")),
      labelled("Address", wordsOf(value, "html_url")),
    ),
    body,
    changedFiles(listOf(field(value, "files"))),
  );
  return documentNode(document, {
    name: `${sha.slice(0, 7)} ${subject}`,
    type: "commit",
    content: text,
    description: subject,
    isBare: body === "",
    metadata: {
      sha,
      author: wordsOf(author, "name"),
      date: wordsOf(author, "date"),
    },
  });
}

const DISCUSSIONS: ReadonlyMap<string, string> = new Map([
  ["pr", "Pull request"],
  ["issue", "Issue"],
]);

/** Format for pull requests and issues, as GitHub's API returns them, with `files` and `comments`. */
export const createPrFormat: CreateFormat = defineFormat("PR", (type) => DISCUSSIONS.has(type), toPr);

function toPr(document: FormatDocument): ResourceNode {
  const { content } = document;
  const pr = readJson(content);
  const title = wordsOf(pr, "title") || content.name;
  const body = wordsOf(pr, "body");
  const number = wordsOf(pr, "number");
  const state = stateOf(pr);
  const author = wordsOf(field(pr, "user"), "login");
  const labels = listOf(field(pr, "labels")).map((label) => wordsOf(label, "name") || String(label));
  const text = paragraphs(
    `# ${DISCUSSIONS.get(content.contentType) ?? "Pull request"} #${number}: ${title}`,
    lines(
      labelled("State", state),
      labelled("Author", author),
      labelled("Labels", labels.join(", ")),
      labelled("Branch", branches(pr)),
      labelled("Created", wordsOf(pr, "created_at")),
      labelled("Merged", wordsOf(pr, "merged_at")),
      labelled("Address", wordsOf(pr, "html_url")),
    ),
    body,
    changedFiles(listOf(field(pr, "files"))),
    comments(listOf(field(pr, "comments"))),
  );
  return documentNode(document, {
    name: `#${number} ${title}`,
    type: content.contentType,
    content: text,
    description: lines(toSummary(title, 200), toSummary(body)).replace("\n", ": "),
    isBare: body === "",
    metadata: { number: Number(number), state, author, labels },
  });
}

function stateOf(pr: PlainObject): string {
  if (wordsOf(pr, "merged_at") !== "") return "merged";
  const state = wordsOf(pr, "state");
  return state === "open" && field(pr, "draft") === true ? "draft" : state;
}

function branches(pr: PlainObject): string {
  const from = wordsOf(field(pr, "head"), "ref");
  const to = wordsOf(field(pr, "base"), "ref");
  return from && to ? `${from} into ${to}` : "";
}

/** Lists `path (+added −removed)` for each file of a pull request or commit. */
function changedFiles(files: readonly unknown[]): string {
  if (files.length === 0) return "";
  const shown = files.map(
    (file) =>
      `- ${wordsOf(file, "filename")} (+${wordsOf(file, "additions")} -${wordsOf(file, "deletions")})`,
  );
  return ["## Changed files", "", ...shown].join("\n");
}

function comments(list: readonly unknown[]): string {
  if (list.length === 0) return "";
  const shown = list.map((comment) =>
    paragraphs(`**${wordsOf(field(comment, "user"), "login")}**:`, wordsOf(comment, "body")),
  );
  return paragraphs("## Comments", ...shown);
}
