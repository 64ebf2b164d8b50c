import { toVisibleText } from "../../../base/safety/visible-text.ts";
import { createClickUpDocFormat, createClickUpTaskFormat } from "./clickup-format.ts";
import { createCommitFormat, createPrFormat } from "./github-format.ts";
import { createMarkdownFormat } from "./markdown-format.ts";
import { createQaseSuiteFormat } from "./qase-suite-format.ts";
import { createTableSchemaFormat } from "./table-schema-format.ts";
import { defineFormat, toNode } from "./to-node.ts";

const TEXT =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|typescript|sql)\b)/i;

export const createTextFormat = defineFormat("Text", TEXT, (document) => {
  const { name, content } = document.content;
  return toNode(document, { name, type: "document", content: toVisibleText(content) });
});

/**
 * Creates the built-in formats of a pipeline, each with its own {@link FormatOptions}. Formats are tried in list order.
 * Documents come from {@link contentSources} or your own source.
 * @example
 * ```ts
 * import { contentFormats } from "keyhole/sources";
 *
 * const formats = [contentFormats.markdown(), contentFormats.text()];
 * console.assert(formats[0]?.canHandle("text/markdown"));
 * ```
 */
export const contentFormats = {
  /** Markdown: one node for the document, below it nested nodes for its headings. */
  markdown: createMarkdownFormat,
  /** Any other text, unchanged. Put it last in a list of formats. */
  text: createTextFormat,
  /** Pull requests and issues, as GitHub's API returns them. */
  pr: createPrFormat,
  /** Commits, as GitHub's API returns them. */
  commit: createCommitFormat,
  /** Tables: one node for the table, and one under `columns/` for each column. */
  tableSchema: createTableSchemaFormat,
  /** Qase test suites: one node for the suite, and one under `cases/` for each test case. */
  qaseSuite: createQaseSuiteFormat,
  /** ClickUp documents: one node for the document, below it its nested pages, split by headings. */
  clickUpDoc: createClickUpDocFormat,
  /** ClickUp tasks and lists, as its API returns them. */
  clickUpTask: createClickUpTaskFormat,
} as const;
