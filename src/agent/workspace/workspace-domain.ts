import { LRUCache } from "lru-cache";
import type { AnyTool, DomainDefinition } from "../../core/nouns/definition.ts";
import type { CallContext, Example, Lane } from "../../core/nouns/entry.ts";
import { defineDomain } from "../../sources/code/define.ts";
import type { Permissions } from "../permissions/permissions.ts";
import {
  type DeleteOutput,
  deleteInput,
  type EditOutput,
  editInput,
  runDelete,
  runEdit,
  runWrite,
  type WriteOutput,
  writeInput,
} from "./change-tools.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { type ReadOutput, readInput, readText, runRead } from "./read-tool.ts";
import {
  type ListOutput,
  listInput,
  listText,
  runList,
  runSearch,
  type SearchOutput,
  searchInput,
  searchText,
} from "./search-tool.ts";
import { MAX_COMMAND_MS, runShell, type ShellOutput, shellInput, shellText } from "./shell-tool.ts";
import { toProblem } from "./tool-response.ts";
import { toTool, type WorkspaceContext, type WorkspaceTool } from "./workspace-tool.ts";

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

const SEEN_FILES = 2_000;

/** Options of {@link createWorkspace}. */
interface WorkspaceOptions {
  /** Decides for every tool; its root is the project's folder. */
  readonly permissions: Permissions;
  /** Names of further variables that commands get. */
  readonly environment?: readonly string[];
  /** The shell that runs commands, as `shell -c command`; `/bin/sh` by default. */
  readonly shell?: string;
  /** Gets every file before a tool changes it. */
  readonly checkpoints?: Checkpoints;
}

/** The tools of a project's folder. Each checks its input, asks for permission, and never throws. */
interface Workspace {
  readonly read: WorkspaceTool<ReadOutput>;
  readonly list: WorkspaceTool<ListOutput>;
  readonly search: WorkspaceTool<SearchOutput>;
  readonly write: WorkspaceTool<WriteOutput>;
  readonly edit: WorkspaceTool<EditOutput>;
  readonly delete: WorkspaceTool<DeleteOutput>;
  readonly shell: WorkspaceTool<ShellOutput>;
}

/** Creates the tools of a project's folder. {@link workspaceDomain} offers them through a gateway. */
export function createWorkspace({
  permissions,
  environment = [],
  shell = "/bin/sh",
  checkpoints,
}: WorkspaceOptions): Workspace {
  const seen = new LRUCache<string, string>({ max: SEEN_FILES });
  const context: WorkspaceContext = {
    root: permissions.root,
    permissions,
    seen,
    environment,
    shell,
    checkpoints,
  };
  return {
    read: toTool(readInput, runRead, context),
    list: toTool(listInput, runList, context),
    search: toTool(searchInput, runSearch, context),
    write: toTool(writeInput, runWrite, context),
    edit: toTool(editInput, runEdit, context),
    delete: toTool(deleteInput, runDelete, context),
    shell: toTool(shellInput, runShell, context),
  };
}
