import fc from "fast-check";
import { expect, test } from "vitest";
import type { ResourceNode } from "../../../core/nouns/pipeline.ts";
import { createMarkdownFormat } from "./markdown-format.ts";

const format = createMarkdownFormat();
const guide = `---
title: The guide
description: All there is to know.
---
# Guide

How to begin.

## Install

Take the package.

### Linux

Use apt.

\`\`\`sh
# not a heading
\`\`\`

## Install

Once more.

Setext too
----------

Below it.
`;

test("a document becomes a tree of its headings, each with its path", () => {
  const [document] = parse(guide, "guides/start.md");
  expect(document).toMatchObject({
    name: "The guide",
    path: "docs/guides/start-md",
    description: "All there is to know.",
    metadata: { resource_type: "document", path_segment: "docs", quality_score: 50 },
  });
  expect(outline([document!])).toEqual([
    "docs/guides/start-md",
    "docs/guides/start-md/install",
    "docs/guides/start-md/install/linux",
    "docs/guides/start-md/install-2",
    "docs/guides/start-md/setext-too",
  ]);
  const linux = document?.children?.[0]?.children?.[0];
  expect(linux).toMatchObject({
    name: "Linux",
    description: "Use apt.",
    metadata: { resource_type: "section", heading_path: "The guide > Install > Linux" },
  });
  expect(linux?.content).toContain("# not a heading");
  expect(document?.children?.[0]?.content).toContain("Use apt.");
  expect(document?.content).toBe(guide);
});

test("a long section gets passages and keeps its whole text", () => {
  const long = Array.from({ length: 400 }, (_, index) => `Sentence number ${index}.`).join(" ");
  const [document] = parse(`# Title\n\n## Long\n\n${long}\n\n### Below\n\nShort.\n`, "a.md");
  const section = document?.children?.[0];
  const passages = section?.children?.filter((node) => node.metadata?.resource_type === "passage") ?? [];
  expect(passages.length).toBeGreaterThan(5);
  expect(section?.content).toContain("Sentence number 399.");
  expect(section?.searchText).toBe("Title > Long");
  expect(passages.map((node) => node.content).join("")).toBe(section?.content.split("### Below")[0]);
  expect(passages[1]?.path).toBe("docs/a-md/long/passages/2");
  expect(passages[1]?.metadata).toMatchObject({ passage: 2, parent_path: "docs/a-md/long" });
});

test("no section has the path of a passage", () => {
  const [document] = parse(`# T\n\n${"word ".repeat(600)}\n\n## Passages\n\n### 1\n`, "a.md");
  const paths = outline([document!]);
  expect(new Set(paths).size).toBe(paths.length);
});

const line = fc.oneof(
  fc.constantFrom(
    "# A",
    "## B",
    "### C",
    "###### D",
    "####### no",
    "#no",
    "```",
    "~~~",
    "===",
    "---",
    "- item",
  ),
  fc.constantFrom("__proto__", "# constructor", "# ", "", "    # code", "# [link](x) `code`", "Text. More."),
  fc.string({ unit: "grapheme", maxLength: 40 }),
);

test("any text gives a tree: paths are unique, parts lie within their parent, nothing is lost", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
      const [document] = createMarkdownFormat({ passageChars: 64 }).parse(rawOf(lines.join("\n")), "docs");
      const paths = outline([document!]);
      expect(new Set(paths).size).toBe(paths.length);
      for (const path of paths) expect(path).toMatch(/^[^\s/.]+(?:\/[^\s/.]+)*$/u);
      checkInside(document!);
    }),
  );
});

test("endless headings and unclosed marks take linear time", () => {
  for (const text of [
    "# ".repeat(100_000),
    "[".repeat(200_000),
    "#\n".repeat(50_000),
    "```\n".repeat(50_000),
  ]) {
    expect(parse(text, "a.md")).toHaveLength(1);
  }
});

test("unreadable front matter counts as text", () => {
  const [document] = parse("---\n: [\n---\n# Title\n", "a.md");
  expect(document?.content).toContain(": [");
});

/** The sections of a node, joined, equal its content after its own text. */
function checkInside({ content, children = [] }: ResourceNode): void {
  const sections = children.filter((child) => child.metadata?.resource_type === "section");
  expect(content.endsWith(sections.map((section) => section.content).join(""))).toBe(true);
  for (const section of sections) checkInside(section);
}

function outline(nodes: readonly ResourceNode[]): string[] {
  return nodes.flatMap((node) => [node.path, ...outline(node.children ?? [])]);
}

function rawOf(content: string, path = "a.md") {
  return { id: path, name: path, contentType: "text/markdown", content, metadata: { path } };
}

function parse(content: string, path: string): readonly ResourceNode[] {
  return format.parse(rawOf(content, path), "docs");
}
