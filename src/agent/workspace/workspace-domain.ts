import { LRUCache } from "lru-cache";
import { defineDomain } from "../../core/nouns/define.ts";
import type { AnyTool, DomainDefinition } from "../../core/nouns/definition.ts";
import type { Isolation } from "../../sources/isolation/mounts.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { deleteTool, editTool, writeTool } from "./change-tools.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { readTool } from "./read-tool.ts";
import { listTool, searchTool } from "./search-tool.ts";
import { MAX_COMMAND_MS, shellTool } from "./shell-tool.ts";
import { toToolProblem } from "./tool-problem.ts";
import type { WorkspaceContext, WorkspaceTool } from "./workspace-tool.ts";

/** A call includes the time that a person takes to answer a question. */
const WAIT_MS = 30 * 60_000;
const SEEN_FILES = 2_000;

/** Options of {@link workspaceDomain}. */
export interface WorkspaceDomainOptions {
  /** The domain's name; `workspace` by default. */
  readonly name?: string;
  /** Decides for every tool; its root is the project's folder. */
  readonly permissions: Permissions;
  /** Variables that commands get beside a few that most programs need, such as `PATH` and `HOME`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The shell that runs commands, as `shell -c command`; `/bin/sh` by default. */
  readonly shell?: string;
  /** Limits what commands see and reach beside the project, where the machine can. Default: no limits. */
  readonly isolation?: Isolation;
  /** Gets every file before a tool changes it. */
  readonly checkpoints?: Checkpoints;
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
export function workspaceDomain(options: WorkspaceDomainOptions): DomainDefinition {
  const { name = "workspace" } = options;
  const context = createWorkspaceContext(options);
  return defineDomain({
    name,
    description: "Files and commands of the project: read, list, search, write, edit, delete, run in a shell",
    rules:
      "Read a file before changing it. Prefer edit to write for a file that exists. Do not look for another way to do what was refused.",
    tools: TOOLS.map((tool) => toDefinition(name, tool, context)),
  });
}

const TOOLS: readonly WorkspaceTool[] = [
  readTool,
  listTool,
  searchTool,
  writeTool,
  editTool,
  deleteTool,
  shellTool,
];

export function createWorkspaceContext(options: WorkspaceDomainOptions): WorkspaceContext {
  const { permissions, environment = {}, shell = "/bin/sh", checkpoints, isolation } = options;
  const seen = new LRUCache<string, string>({ max: SEEN_FILES });
  return { root: permissions.root, permissions, seen, environment, shell, checkpoints, isolation };
}

function toDefinition(domain: string, tool: WorkspaceTool, context: WorkspaceContext): AnyTool {
  const { run: _, toText = (output) => output, ...definition } = tool;
  return {
    ...definition,
    op: `${domain}.${tool.name}`,
    asksItself: true,
    timeoutMs: WAIT_MS + MAX_COMMAND_MS,
    execute: async (params, { signal, ask }) =>
      toText(await runTool(tool, params, { ...context, ask }, signal)),
  };
}

/** Runs a tool on checked input. Throws only problems. */
export async function runTool<Output>(
  tool: Pick<WorkspaceTool<never, Output>, "run">,
  params: unknown,
  context: WorkspaceContext,
  signal?: AbortSignal,
): Promise<Output> {
  try {
    signal?.throwIfAborted();
    return await tool.run(params as never, context, signal);
  } catch (error) {
    throw toToolProblem(error);
  }
}
