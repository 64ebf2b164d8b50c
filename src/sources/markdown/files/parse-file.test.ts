import { describe, expect, test } from "vitest";
import { type FragmentFile, type LibraryFile, type LibraryPrompt, parseFile } from "./parse-file.ts";

const countTokens = (text: string) => text.split(/\s+/).length;
const parse = (kind: LibraryFile["kind"], path: string, text: string) =>
  parseFile({ path, kind, stamp: "1-1", hash: "h" }, text, countTokens);
const fragment = (text: string, path = "fragments/agents/types.md") =>
  parse("fragment", path, text).facts as FragmentFile["facts"];
const prompt = (text: string, path = "prompts/workflows/new.md") =>
  parse("prompt", path, text).facts as LibraryPrompt["facts"];

describe("a fragment", () => {
  test("has the facts of its front matter", () => {
    const facts = fragment(`---
id: typescript-core
category: agent
tags: [TypeScript, types]
capabilities:
  - Complex type system design
useWhen:
  - Designing type-safe APIs
estimatedTokens: 650
scopes: [team.read]
related: [other]
---
# Core types

How to design types. Then more.
`);
    expect(facts).toEqual({
      id: "typescript-core",
      title: "Core types",
      description: "How to design types.",
      category: "agent",
      tags: ["typescript", "types"],
      capabilities: ["Complex type system design"],
      useWhen: ["Designing type-safe APIs"],
      estimatedTokens: 650,
      scopes: ["team.read"],
      references: ["other"],
    });
  });

  test("may have a colon in an item of a list", () => {
    const { useWhen, capabilities } = fragment(`---
capabilities: [plain]
useWhen:
  - Building REST APIs: with Node
  - Moving data
---
# Types

Text.
`);
    expect(useWhen).toEqual(["Building REST APIs: with Node", "Moving data"]);
    expect(capabilities).toEqual(["plain"]);
  });

  test("that is only a list is described by its capabilities", () => {
    const facts = fragment(
      "# Steps\n\n1. First this,\n   then that.\n2. Last.\n\n## Capabilities\n\n- Take steps\n",
    );
    expect(facts.description).toBe("Take steps");
  });

  test("without front matter is described by its headings, sections and text", () => {
    const facts = fragment(
      `# Retry patterns

When a call fails, in TypeScript. See [limits](../patterns/rate-limits.md) and \`backoff.md\`.

## Capabilities

- Back off with jitter
- Give up in time

\`\`\`sh
# Not a heading
- not an item
\`\`\`

## When to Use

1. A service answers 503
2. Calls time out
`,
      "fragments/skills/deep/retry.md",
    );
    expect(facts).toMatchObject({
      id: "retry",
      title: "Retry patterns",
      description: "When a call fails, in TypeScript.",
      category: "skills",
      capabilities: ["Back off with jitter", "Give up in time"],
      useWhen: ["A service answers 503", "Calls time out"],
      references: ["../patterns/rate-limits.md", "backoff.md"],
      scopes: [],
    });
    expect(facts.tags).toEqual(["retry", "patterns", "typescript"]);
    expect(facts.estimatedTokens).toBeGreaterThan(20);
  });

  test("with an empty scopes field is refused", () => {
    expect(() => fragment("---\nscopes:\n---\nText")).toThrow("fragments/agents/types.md:2:1: scopes");
    expect(() => fragment("---\nscopes: []\n---\nText")).toThrow("scopes");
    expect(() => fragment("---\ntags: [a, b\n---\nText")).toThrow(":2:1: tags");
    expect(() => fragment("---\nuseWhen: [a, b\n---\nText")).toThrow(":2:1: useWhen");
    expect(() => fragment("---\nid: a\nestimatedTokens: lots\n---\nText")).toThrow(
      "fragments/agents/types.md:3:1: estimatedTokens",
    );
  });

  test("hidden characters and comments are made visible", () => {
    const file = parse(
      "fragment",
      "fragments/a/b.md",
      "---\ntags: [a\u200Bb]\n---\nVisible\u202E<!-- not -->text",
    );
    expect(file.body).toBe("Visible\\u202e<!-- not -->text");
    expect((file.facts as FragmentFile["facts"]).tags).toEqual(["a\\u200bb"]);
  });
});

describe("a prompt", () => {
  test("has the fields of its front matter", () => {
    const facts = prompt(`---
name: new-project
title: Create a project
description: Starts a project
version: 1.0.0
arguments:
  - name: description
    description: What it is
    required: true
  - tone
tags: project, setup
estimatedTokens: 2000
---
Build it.`);
    expect(facts).toEqual({
      name: "new-project",
      title: "Create a project",
      description: "Starts a project",
      version: "1.0.0",
      arguments: [
        { name: "description", description: "What it is", required: true },
        { name: "tone", required: false },
      ],
      category: "workflows",
      tags: ["project", "setup"],
      estimatedTokens: 2000,
      scopes: [],
    });
  });

  test("that uses $ARGUMENTS and declares no argument takes one", () => {
    expect(prompt("Fix $ARGUMENTS").arguments).toEqual([{ name: "arguments", required: false }]);
    expect(prompt("Fix it").arguments).toEqual([]);
  });

  test("with a wrong or doubled argument is refused at its line", () => {
    expect(() => prompt("---\nname: a\narguments: [x, x]\n---\nText")).toThrow(":3:1: arguments");
    expect(() => prompt("---\narguments:\n  - name: 'a b'\n---\nText")).toThrow(":2:1: arguments");
  });
});

test("rules concern the category in their file name, or the whole domain", () => {
  expect(parse("rule", "rules/images.md", "Search first.")).toMatchObject({
    facts: { category: "images" },
    body: "Search first.",
  });
  expect(parse("rule", "rules/_all.md", "Be kind.").facts).toEqual({});
});

test.each(["", "\n\n", "---\nid: a\n---\n", "---\nid: a\n"])("%j is refused", (text) => {
  expect(() => parse("fragment", "fragments/a.md", text)).toThrow("fragments/a.md:");
});
