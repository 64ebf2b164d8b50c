// The files that the document of the prompt library names, with the front matter it shows.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createGateway } from "keyhole";
import { createMarkdownSource, type MarkdownSourceOptions } from "keyhole/sources";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";

interface Facts {
  readonly category: string;
  readonly tags: readonly string[];
  readonly capabilities?: readonly string[];
  readonly useWhen?: readonly string[];
  readonly estimatedTokens?: number;
}

function fragment(id: string, facts: Facts, body: string): string {
  const list = (name: string, items: readonly string[] | undefined) =>
    items ? `${name}:\n${items.map((item) => `  - ${item}\n`).join("")}` : "";
  return `---
id: ${id}
category: ${facts.category}
tags: [${facts.tags.join(", ")}]
${list("capabilities", facts.capabilities)}${list("useWhen", facts.useWhen)}${facts.estimatedTokens ? `estimatedTokens: ${facts.estimatedTokens}\n` : ""}---

${body}
`;
}

const GUIDES = Object.fromEntries(
  Array.from({ length: 20 }, (_, at) => [
    `resources/guides/guide-${at}.md`,
    fragment(
      `guide-${at}`,
      { category: "guide", tags: ["cloud", `topic-${at}`], useWhen: [`Setting up a cluster of size ${at}`] },
      `# Guide ${at}\n\nHow to set up a cluster, part ${at}.`,
    ),
  ]),
);

export const ORCHESTR8: Readonly<Record<string, string>> = {
  ...GUIDES,
  "prompts/workflows/new-project.md": `---
name: new-project
title: Create New Project
description: Create a new software project with best practices
version: 1.0.0
arguments:
  - name: description
    description: Project description
    required: true
tags: [project, setup, initialization]
estimatedTokens: 2000
---
Create a project: $ARGUMENTS
`,
  "prompts/agents/build.md": `---
name: build
title: Build
description: Builds an application
arguments:
  - name: language
  - name: purpose
---
Build a $\{language} application for $\{purpose}
`,
  "resources/agents/typescript-developer.md": fragment(
    "typescript-developer",
    { category: "agent", tags: ["typescript", "developer"], useWhen: ["Writing TypeScript of any kind"] },
    `# TypeScript Developer Agent

Expert in TypeScript development.

## Core Capabilities

**→ Fragment:** Uses knowledge from \`typescript-core.md\`
**→ Fragment:** Async patterns from \`typescript-async-patterns.md\`
Errors: @orchestr8://skills/error-handling-async
More: @orchestr8://agents/match?query=typescript+api`,
  ),
  "resources/agents/typescript-core.md": fragment(
    "typescript-core",
    {
      category: "agent",
      tags: ["typescript", "types", "generics"],
      capabilities: [
        "Complex type system design",
        "Generic type constraints and inference",
        "Conditional and mapped types",
      ],
      useWhen: [
        "Designing type-safe APIs or libraries",
        "Need advanced TypeScript patterns",
        "Complex type transformations required",
      ],
      estimatedTokens: 650,
    },
    "# TypeScript Core\n\nThe type system, from generics to mapped types.",
  ),
  "resources/agents/typescript-async-patterns.md": fragment(
    "typescript-async-patterns",
    {
      category: "agent",
      tags: ["typescript", "async", "patterns", "promises"],
      capabilities: ["Async/await error handling", "Promise composition patterns"],
      useWhen: ["Building async TypeScript applications", "Need error handling for promises"],
      estimatedTokens: 800,
    },
    "# Async Patterns\n\nHow promises compose.",
  ),
  "resources/agents/typescript-api-development.md": fragment(
    "typescript-api-development",
    {
      category: "agent",
      tags: ["typescript", "api", "rest", "async"],
      useWhen: ["Building a REST API"],
      estimatedTokens: 900,
    },
    "# APIs\n\nRoutes, handlers, validation.",
  ),
  "resources/skills/error-handling-async.md": fragment(
    "error-handling-async",
    {
      category: "skill",
      tags: ["async", "error", "promises"],
      capabilities: ["Async error handling", "Try/catch patterns"],
      useWhen: ["Need error handling for promises"],
      estimatedTokens: 650,
    },
    "# Errors of asynchronous code\n\nCatch what you can mend.",
  ),
  "resources/skills/python-async.md": fragment(
    "python-async",
    { category: "skill", tags: ["python", "async"], useWhen: ["Writing async Python"] },
    "# Async Python\n\nTasks and groups.",
  ),
  "resources/examples/fastapi-async-crud.md": fragment(
    "fastapi-async-crud",
    { category: "example", tags: ["python", "fastapi", "async"] },
    "# FastAPI, async CRUD\n\nA small service.",
  ),
  "resources/patterns/event-driven-pubsub.md": `# Publish and subscribe

Decouples those who tell from those who listen.

## Capabilities

- Fan-out of events

## When to Use

- Many services react to one event
`,
};

/** Thirty long fragments of about 700 tokens each on one subject. */
export const LONG_FRAGMENTS: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from({ length: 30 }, (_, at) => [
    `resources/workflows/billing-${at}.md`,
    fragment(
      `billing-${at}`,
      { category: "workflow", tags: ["billing", "invoices"], useWhen: [`Sending invoices, case ${at}`] },
      `# Billing ${at}\n\n${`Invoices of case ${at} are checked, signed and sent. `.repeat(60)}`,
    ),
  ]),
);

export function saveAll(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
}

export function openLibrary(
  files = ORCHESTR8,
  options: Partial<MarkdownSourceOptions> = {},
  name = "orchestr8",
) {
  const directory = temporaryFolder();
  saveAll(directory, files);
  const source = createMarkdownSource(name, {
    directory,
    description: "Agents, skills, patterns and guides.",
    scheme: "orchestr8",
    ...options,
  });
  const gateway = createGateway({ domains: [], sources: [source], learning: false });
  onTestFinished(() => gateway.close());
  return {
    directory,
    source,
    gateway,
    read: async (route: string): Promise<string> => {
      const { results } = await gateway.get({ routes: [{ route }] });
      const [result] = results;
      return result?.ok ? String(result.data.content) : (result?.error.code ?? "");
    },
  };
}

/** The URIs of an answer, best first. */
export const urisOf = (text: string) => [...new Set(text.match(/orchestr8:\/\/[\w/-]+/g) ?? [])];
