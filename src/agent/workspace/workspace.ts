import { LRUCache } from "lru-cache";
import type { Permissions } from "../permissions/permissions.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { type DeleteOutput, deleteInput, runDelete } from "./delete-tool.ts";
import { type EditOutput, editInput, runEdit } from "./edit-tool.ts";
import { type ListOutput, listInput, runList } from "./list-tool.ts";
import { type ReadOutput, readInput, runRead } from "./read-tool.ts";
import { runSearch, type SearchOutput, searchInput } from "./search-tool.ts";
import { runShell, type ShellOutput, shellInput } from "./shell-tool.ts";
import { toTool, type WorkspaceContext, type WorkspaceTool } from "./workspace-tool.ts";
import { runWrite, type WriteOutput, writeInput } from "./write-tool.ts";

const SEEN_FILES = 2_000;

/** Options of {@link createWorkspace}. */
export interface WorkspaceOptions {
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
export interface Workspace {
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
