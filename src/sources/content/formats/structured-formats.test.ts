import fc from "fast-check";
import { expect, test } from "vitest";
import type { ContentFormat, ResourceNode } from "../../../core/nouns/pipeline.ts";
import { createClickUpDocFormat, createClickUpTaskFormat } from "./clickup-format.ts";
import { createCommitFormat, createPrFormat } from "./github-format.ts";
import { createQaseSuiteFormat } from "./qase-suite-format.ts";
import { createTableSchemaFormat } from "./table-schema-format.ts";

const FORMATS: readonly (readonly [string, ContentFormat])[] = [
  ["clickup-doc", createClickUpDocFormat()],
  ["clickup-task", createClickUpTaskFormat()],
  ["clickup-list", createClickUpTaskFormat()],
  ["commit", createCommitFormat()],
  ["pr", createPrFormat()],
  ["issue", createPrFormat()],
  ["qase-suite", createQaseSuiteFormat()],
  ["table-schema", createTableSchemaFormat()],
];

const NAMES = [
  ...["id", "name", "title", "body", "content", "pages", "cases", "steps", "columns", "constraints", "files"],
  ...[
    "comments",
    "labels",
    "user",
    "login",
    "commit",
    "message",
    "sha",
    "__proto__",
    "constructor",
    "status",
  ],
  ...["assignees", "tags", "checklists", "items", "due_date", "number", "type", "description", "definition"],
];
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      "",
      "text. More text.",
      "# Heading\n\n## Two",
      "\u202e\u0000",
      "1767225600000",
    ),
    fc.array(tie("any"), { maxLength: 4 }),
    tie("object"),
  ),
  object: fc.array(fc.tuple(fc.constantFrom(...NAMES), tie("any")), { maxLength: 8 }).map(toObject),
}));

test.each(FORMATS)(
  "any object that claims to be a %s becomes a tree with paths of its own",
  (contentType, format) => {
    expect(format.canHandle(contentType)).toBe(true);
    fc.assert(
      fc.property(value.object, (object) => {
        const nodes = flatten(format.parse(rawOf(contentType, JSON.stringify(object)), "base"));
        expect(nodes.length).toBeGreaterThan(0);
        for (const node of nodes) {
          expect(node.path).toMatch(/^base(?:\/[^\s/.]+)+$/u);
          expect(node.name).not.toBe("");
          expect(node.metadata).toMatchObject({
            resource_type: expect.any(String),
            path_segment: "base",
            quality_score: expect.any(Number),
          });
        }
      }),
    );
  },
);

test.each(FORMATS)("a value that is not an object is refused as a %s", (contentType, format) => {
  for (const content of ["", "{", "[]", "null", '"text"', "1"]) {
    expect(() => format.parse(rawOf(contentType, content), "")).toThrow("is not a JSON object");
  }
});

test.each(FORMATS)("%s and only such content is handled", (contentType, format) => {
  for (const other of ["text/markdown", "text/plain", "__proto__", "constructor", `${contentType}x`, ""]) {
    expect(format.canHandle(other)).toBe(false);
  }
});

function rawOf(contentType: string, content: string) {
  return { id: "1", name: "one", contentType, content, metadata: { path: "things/1" } };
}

/** `__proto__` as an own field, as JSON.parse makes it. */
function toObject(pairs: readonly (readonly [string, unknown])[]): object {
  return Object.defineProperties(
    {},
    Object.fromEntries(
      pairs.map(([name, one]) => [
        name,
        { value: one, enumerable: true, configurable: true, writable: true },
      ]),
    ),
  );
}

function flatten(nodes: readonly ResourceNode[]): ResourceNode[] {
  return nodes.flatMap((node) => [node, ...flatten(node.children ?? [])]);
}
