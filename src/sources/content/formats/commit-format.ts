import type { ContentFormat, RawContent, ResourceNode } from "../../../schema/pipeline.ts";
import { field, listOf } from "../../../util/fields.ts";
import { changedFiles } from "./pr-format.ts";
import { labelled, lines, paragraphs, readJson, wordsOf } from "./read-json.ts";
import { documentFacts, documentPath, type FormatOptions, toNode } from "./to-node.ts";

/** Format for commits, as GitHub's API returns them. */
export function createCommitFormat(options: FormatOptions = {}): ContentFormat {
  return {
    name: "Commit",
    canHandle: (contentType) => contentType === "commit",
    parse: (content, basePath) => [toCommit(content, documentPath(content, basePath), options)],
  };
}

function toCommit(content: RawContent, path: string, options: FormatOptions): ResourceNode {
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
  return toNode(
    {
      id: content.id,
      name: `${sha.slice(0, 7)} ${subject}`,
      path,
      type: "commit",
      content: text,
      description: subject,
      isBare: body === "",
      metadata: {
        ...documentFacts(content),
        sha,
        author: wordsOf(author, "name"),
        date: wordsOf(author, "date"),
      },
    },
    options,
  );
}
