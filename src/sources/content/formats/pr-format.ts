import type { ContentFormat, RawContent, ResourceNode } from "../../../schema/pipeline.ts";
import { type Fields, field, listOf } from "../../../util/fields.ts";
import { toSummary } from "../../../util/to-summary.ts";
import { labelled, lines, paragraphs, readJson, wordsOf } from "./read-json.ts";
import { documentFacts, documentPath, type FormatOptions, toNode } from "./to-node.ts";

const TYPES: ReadonlyMap<string, string> = new Map([
  ["pr", "Pull request"],
  ["issue", "Issue"],
]);

/** Format for pull requests and issues, as GitHub's API returns them, with `files` and `comments`. */
export function createPrFormat(options: FormatOptions = {}): ContentFormat {
  return {
    name: "PR",
    canHandle: (contentType) => TYPES.has(contentType),
    parse: (content, basePath) => [toPr(content, documentPath(content, basePath), options)],
  };
}

function toPr(content: RawContent, path: string, options: FormatOptions): ResourceNode {
  const pr = readJson(content);
  const title = wordsOf(pr, "title") || content.name;
  const body = wordsOf(pr, "body");
  const number = wordsOf(pr, "number");
  const state = stateOf(pr);
  const author = wordsOf(field(pr, "user"), "login");
  const labels = listOf(field(pr, "labels")).map((label) => wordsOf(label, "name") || String(label));
  const text = paragraphs(
    `# ${TYPES.get(content.contentType) ?? "Pull request"} #${number}: ${title}`,
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
  return toNode(
    {
      id: content.id,
      name: `#${number} ${title}`,
      path,
      type: content.contentType,
      content: text,
      description: lines(toSummary(title, 200), toSummary(body)).replace("\n", ": "),
      isBare: body === "",
      metadata: { ...documentFacts(content), number: Number(number), state, author, labels },
    },
    options,
  );
}

function stateOf(pr: Fields): string {
  if (wordsOf(pr, "merged_at") !== "") return "merged";
  const state = wordsOf(pr, "state");
  return state === "open" && field(pr, "draft") === true ? "draft" : state;
}

function branches(pr: Fields): string {
  const from = wordsOf(field(pr, "head"), "ref");
  const to = wordsOf(field(pr, "base"), "ref");
  return from && to ? `${from} into ${to}` : "";
}

/** Lists `path (+added −removed)` for each file of a pull request or commit. */
export function changedFiles(files: readonly unknown[]): string {
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
