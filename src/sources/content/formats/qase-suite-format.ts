import { field, listOf } from "../../../base/util/plain-object.ts";
import { toSummary } from "../../../base/util/to-summary.ts";
import type { ResourceNode } from "../../../core/nouns/pipeline.ts";
import {
  defineFormat,
  type FormatDocument,
  labelled,
  paragraphs,
  readJson,
  resourcePath,
  toNode,
  wordsOf,
} from "./to-node.ts";

export const createQaseSuiteFormat = defineFormat("QaseSuite", /^qase-suite$/, toSuite);

function toSuite(document: FormatDocument): ResourceNode {
  const { content } = document;
  const suite = readJson(content);
  const title = wordsOf(suite, "title") || content.name;
  const description = wordsOf(suite, "description");
  const cases = listOf(field(suite, "cases"));
  const children = cases.map((one) => toCase(one, title, document));
  const preconditions = labelled({ Preconditions: wordsOf(suite, "preconditions") });
  const head = paragraphs(`# ${title}`, description, preconditions);
  const titles = cases.map((one) => `- ${wordsOf(one, "title")}`).join("\n");
  return toNode(document, {
    name: title,
    type: "suite",
    content: paragraphs(head, ...children.map((child) => child.content)),
    ownText: paragraphs(head, titles),
    description: toSummary(description) || `A suite of ${cases.length} test cases.`,
    isBare: description === "",
    metadata: { cases: cases.length },
    children,
  });
}

function toCase(one: unknown, suite: string, document: FormatDocument): ResourceNode {
  const id = wordsOf(one, "id");
  const title = wordsOf(one, "title") || `Case ${id}`;
  const description = wordsOf(one, "description");
  const steps = listOf(field(one, "steps")).map(toStep);
  return toNode(document, {
    id: `${document.content.id}#case-${id}`,
    name: title,
    path: resourcePath(document.path, "cases", id),
    type: "case",
    content: paragraphs(
      `## ${title}`,
      description,
      labelled({ Preconditions: wordsOf(one, "preconditions") }),
      steps.length > 0 && ["Steps:", ...steps].join("\n"),
      labelled({ Postconditions: wordsOf(one, "postconditions") }),
    ),
    heading: `${suite} > ${title}`,
    description: toSummary(description) || title,
    isBare: description === "" && steps.length === 0,
    metadata: { suite, case_id: Number(id) },
  });
}

function toStep(step: unknown, index: number): string {
  const expected = wordsOf(step, "expected_result");
  const data = wordsOf(step, "data");
  const action = `${index + 1}. ${wordsOf(step, "action")}`;
  return `${action}${data && ` (with ${data})`}${expected && ` -> ${expected}`}`;
}
