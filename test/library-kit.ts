import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createGateway, type Gateway, type GatewayOptions } from "keyhole";
import { createMarkdownSource, type MarkdownSourceOptions } from "keyhole/sources";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./temporary-folder.ts";

/** A few Markdown files of every kind. */
export const NOTES: Readonly<Record<string, string>> = {
  "prompts/workflows/new-project.md": `---
name: new-project
title: Create a project
description: Starts a project in the right order.
arguments:
  - name: description
    description: What is to be built
    required: true
  - name: language
---
Build $\{description} in $\{language}. ($ARGUMENTS)
`,
  "fragments/agents/types.md": `---
id: types-core
category: agent
tags: [typescript, types]
capabilities: [Design of generic types]
useWhen: [Designing type-safe interfaces]
---
# Types

How to design types. Errors are in \`errors.md\`.
`,
  "fragments/skills/deep/errors.md": `# Error handling

What to do when calls fail.

## When to use

- Handling errors of asynchronous calls
`,
  "fragments/skills/secrets.md": `---
tags: [vault]
useWhen: [Rotating secrets of asynchronous calls]
scopes: [vault.read]
---
# Secrets

Where the vault is.
`,
  "rules/agent.md": "**Agents:** types before code.",
};

export interface Kit {
  readonly directory: string;
  readonly source: ReturnType<typeof createMarkdownSource>;
  readonly gateway: Gateway;
  save(path: string, text: string): void;
  /** Reads a route with get. Returns its content, or the code of the problem. */
  read(route: string, principal?: GatewayOptions["principal"]): Promise<string>;
}

export function openNotes(
  files: Readonly<Record<string, string>> = NOTES,
  options: Partial<MarkdownSourceOptions> & { readonly directory?: string } = {},
): Kit {
  const directory = options.directory ?? temporaryFolder();
  const save = (path: string, text: string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  };
  for (const [path, text] of Object.entries(files)) save(path, text);
  const source = createMarkdownSource("notes", { description: "Notes of the team.", ...options, directory });
  const gateway = createGateway({ domains: [], sources: [source] });
  onTestFinished(() => gateway.close());
  return {
    directory,
    source,
    gateway,
    save,
    read: async (route, principal) => {
      const { results } = await gateway.get({ routes: [{ route }] }, principal && { principal });
      const [result] = results;
      return result?.ok ? String(result.data.content) : (result?.error.code ?? "");
    },
  };
}
