import type { AnyTool, DomainDefinition } from "../../schema/definition.ts";
import type { CallContext, Example, Lane } from "../../schema/entry.ts";
import { defineDomain } from "../../sources/code/define.ts";
import { deleteInput } from "./delete-tool.ts";
import { editInput } from "./edit-tool.ts";
import { listInput, listText } from "./list-tool.ts";
import { readInput, readText } from "./read-tool.ts";
import { searchInput, searchText } from "./search-tool.ts";
import { MAX_COMMAND_MS, shellInput, shellText } from "./shell-tool.ts";
import { toProblem } from "./tool-response.ts";
import { createWorkspace, type Workspace, type WorkspaceOptions } from "./workspace.ts";
import { writeInput } from "./write-tool.ts";

/** A call includes the time that a person takes to answer a question. */
const WAIT_MS = 30 * 60_000;

/** Options of {@link workspaceDomain}. */
export interface WorkspaceDomainOptions extends WorkspaceOptions {
  /** The domain's name; `workspace` by default. */
  readonly name?: string;
}

/**
 * Creates a domain with tools for the files and commands of a project, within {@link createPermissions}.
 *
 * @example
 * ```ts
 * import { createGateway } from "keyhole";
 * import { createPermissions, workspaceDomain } from "keyhole/agent";
 *
 * const permissions = createPermissions({ root: process.cwd() });
 * const gateway = createGateway({ domains: [workspaceDomain({ permissions })] });
 * const { text } = await gateway.help({ path: "workspace" });
 * console.log(text);
 * await gateway.close();
 * ```
 */
export function workspaceDomain({
  name = "workspace",
  ...options
}: WorkspaceDomainOptions): DomainDefinition {
  const workspace = createWorkspace(options);
  return defineDomain({
    name,
    description: "Files and commands of the project: read, list, search, write, edit, delete, run in a shell",
    rules:
      "Read a file before changing it. Prefer edit to write for a file that exists. Do not look for another way to do what was refused.",
    tools: TOOLS.map((tool) => toDefinition(name, tool, workspace)),
  });
}

interface ToolText {
  readonly tool: keyof Workspace;
  readonly lane: Lane;
  readonly description: string;
  readonly inputSchema: NonNullable<AnyTool["inputSchema"]>;
  readonly examples: readonly Example[];
  readonly phrases: readonly string[];
  /** The result as the model reads it. Default: as it is. */
  readonly toText?: (result: never) => unknown;
}

const TOOLS: readonly ToolText[] = [
  {
    tool: "read",
    toText: readText,
    lane: "read",
    description: "Read a text file of the project, all of it or a range of lines, or see an image",
    inputSchema: readInput,
    examples: [{ args: { path: "src/index.ts", offset: 1, limit: 200 } }],
    phrases: ["open file", "show file", "cat", "view source"],
  },
  {
    tool: "list",
    toText: listText,
    lane: "read",
    description: "List the files and folders in a folder of the project, without ignored ones",
    inputSchema: listInput,
    examples: [{ args: { path: "src", depth: 2 } }],
    phrases: ["ls", "directory listing", "which files are there", "tree"],
  },
  {
    tool: "search",
    toText: searchText,
    lane: "read",
    description: "Search the lines of the project's files by a regular expression",
    inputSchema: searchInput,
    examples: [{ args: { pattern: "function \\w+Name", files: "**/*.ts" } }],
    phrases: ["grep", "ripgrep", "find in files", "where is it used"],
  },
  {
    tool: "write",
    lane: "write",
    description: "Write a whole file: a new one, or one that was read before",
    inputSchema: writeInput,
    examples: [{ args: { path: "notes.md", text: "# Notes\n" } }],
    phrases: ["create file", "save file", "overwrite"],
  },
  {
    tool: "edit",
    lane: "write",
    description: "Replace a text that a file has exactly once, and show the diff",
    inputSchema: editInput,
    examples: [
      { args: { path: "src/index.ts", oldText: "const limit = 10;", newText: "const limit = 20;" } },
    ],
    phrases: ["change file", "patch", "replace in file"],
  },
  {
    tool: "delete",
    lane: "destructive",
    description: "Delete a file, a link, or an empty folder",
    inputSchema: deleteInput,
    examples: [{ args: { path: "notes.md" } }],
    phrases: ["remove file", "rm"],
  },
  {
    tool: "shell",
    toText: shellText,
    lane: "write",
    description: "Run a shell command in the project's folder and return its output",
    inputSchema: shellInput,
    examples: [{ args: { command: "npm test", timeoutMs: 60_000 } }],
    phrases: ["run command", "terminal", "bash", "execute program"],
  },
];

function toDefinition(domain: string, text: ToolText, workspace: Workspace): AnyTool {
  const { tool, toText, ...definition } = text;
  return {
    ...definition,
    name: tool,
    op: `${domain}.${tool}`,
    timeoutMs: WAIT_MS + MAX_COMMAND_MS,
    async execute(params: Record<string, unknown>, { signal }: CallContext) {
      const response = await workspace[tool](params, signal);
      if (!response.success) throw toProblem(response);
      return toText ? toText(response.result as never) : response.result;
    },
  };
}
