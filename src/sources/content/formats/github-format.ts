import { field, listOf, type PlainObject } from "../../../base/util/plain-object.ts";
import { toSummary } from "../../../base/util/to-summary.ts";
import type { ResourceNode } from "../../../core/nouns/pipeline.ts";
import {
  defineFormat,
  type FormatDocument,
  labelled,
  paragraphs,
  readJson,
  toNode,
  wordsOf,
} from "./to-node.ts";

export const createCommitFormat = defineFormat("Commit", /^commit$/, toCommit);

function toCommit(document: FormatDocument): ResourceNode {
  const value = readJson(document.content);
  const commit = field(value, "commit");
  const author = wordsOf(field(commit, "author"), "name");
  const date = wordsOf(field(commit, "author"), "date");
  const sha = wordsOf(value, "sha");
  const [head = "", ...others] = wordsOf(commit, "message").split("\n");
  const subject = head.trim();
  const body = others.join("\n").trim();
  return toNode(document, {
    name: `${sha.slice(0, 7)} ${subject}`,
    type: "commit",
    content: paragraphs(
      `# ${subject}`,
      labelled({ Commit: sha, Author: author, Date: date, Address: wordsOf(value, "html_url") }),
      body,
      changedFiles(value),
    ),
    description: subject,
    isBare: body === "",
    metadata: { sha, author, date },
  });
}

export const createPrFormat = defineFormat("PR", /^(?:pr|issue)$/, toPr);

function toPr(document: FormatDocument): ResourceNode {
  const { content } = document;
  const pr = readJson(content);
  const title = wordsOf(pr, "title") || content.name;
  const body = wordsOf(pr, "body");
  const number = wordsOf(pr, "number");
  const state = stateOf(pr);
  const author = wordsOf(field(pr, "user"), "login");
  const labels = listOf(field(pr, "labels")).map((label) => wordsOf(label, "name") || String(label));
  const comments = listOf(field(pr, "comments")).map((comment) =>
    paragraphs(`**${wordsOf(field(comment, "user"), "login")}**:`, wordsOf(comment, "body")),
  );
  return toNode(document, {
    name: `#${number} ${title}`,
    type: content.contentType,
    content: paragraphs(
      `# ${content.contentType === "issue" ? "Issue" : "Pull request"} #${number}: ${title}`,
      labelled({
        State: state,
        Author: author,
        Labels: labels.join(", "),
        Branch: branches(pr),
        Created: wordsOf(pr, "created_at"),
        Merged: wordsOf(pr, "merged_at"),
        Address: wordsOf(pr, "html_url"),
      }),
      body,
      changedFiles(pr),
      comments.length > 0 && paragraphs("## Comments", ...comments),
    ),
    description: [toSummary(title, 200), toSummary(body)].filter(Boolean).join(": "),
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

/** Lists `path (+added −removed)` for each changed file. */
function changedFiles(holder: PlainObject): string {
  const files = listOf(field(holder, "files")).map(
    (file) =>
      `- ${wordsOf(file, "filename")} (+${wordsOf(file, "additions")} -${wordsOf(file, "deletions")})`,
  );
  return files.length === 0 ? "" : `## Changed files\n\n${files.join("\n")}`;
}
