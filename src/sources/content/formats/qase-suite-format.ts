import type { ContentFormat, RawContent, ResourceNode } from "../../../schema/pipeline.ts";
import { field, listOf } from "../../../util/fields.ts";
import { toSummary } from "../../../util/to-summary.ts";
import { labelled, lines, paragraphs, readJson, wordsOf } from "./read-json.ts";
import { resourcePath } from "./resource-path.ts";
import { documentFacts, documentPath, type FormatOptions, toNode } from "./to-node.ts";

/** Format for Qase test suites: one node for the suite, and one under `cases/` for each test case. */
export function createQaseSuiteFormat(options: FormatOptions = {}): ContentFormat {
  return {
    name: "QaseSuite",
    canHandle: (contentType) => contentType === "qase-suite",
    parse: (content, basePath) => [toSuite(content, documentPath(content, basePath), options)],
  };
}

function toSuite(content: RawContent, path: string, options: FormatOptions): ResourceNode {
  const suite = readJson(content);
  const title = wordsOf(suite, "title") || content.name;
  const description = wordsOf(suite, "description");
  const cases = listOf(field(suite, "cases"));
  const children = cases.map((one) => toCase(one, content, title, path, options));
  const head = paragraphs(
    `# ${title}`,
    description,
    labelled("Preconditions", wordsOf(suite, "preconditions")),
  );
  const titles = cases.map((one) => `- ${wordsOf(one, "title")}`).join("\n");
  return toNode(
    {
      id: content.id,
      name: title,
      path,
      type: "suite",
      content: paragraphs(head, ...children.map((child) => child.content)),
      ownText: paragraphs(head, titles),
      description: toSummary(description) || `A suite of ${cases.length} test cases.`,
      isBare: description === "",
      metadata: { ...documentFacts(content), cases: cases.length },
      children,
    },
    options,
  );
}

function toCase(
  one: unknown,
  content: RawContent,
  suite: string,
  path: string,
  options: FormatOptions,
): ResourceNode {
  const id = wordsOf(one, "id");
  const title = wordsOf(one, "title") || `Case ${id}`;
  const description = wordsOf(one, "description");
  const steps = listOf(field(one, "steps")).map(toStep);
  return toNode(
    {
      id: `${content.id}#case-${id}`,
      name: title,
      path: resourcePath(path, "cases", id),
      type: "case",
      content: paragraphs(
        `## ${title}`,
        description,
        labelled("Preconditions", wordsOf(one, "preconditions")),
        steps.length > 0 && lines("Steps:", ...steps),
        labelled("Postconditions", wordsOf(one, "postconditions")),
      ),
      heading: `${suite} > ${title}`,
      description: toSummary(description) || title,
      isBare: description === "" && steps.length === 0,
      metadata: { ...documentFacts(content), suite, case_id: Number(id) },
    },
    options,
  );
}

function toStep(step: unknown, index: number): string {
  const expected = wordsOf(step, "expected_result");
  const data = wordsOf(step, "data");
  const action = `${index + 1}. ${wordsOf(step, "action")}`;
  return `${action}${data && ` (with ${data})`}${expected && ` -> ${expected}`}`;
}
