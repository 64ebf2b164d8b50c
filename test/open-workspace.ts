import type { z } from "zod";
import { deleteTool, editTool, writeTool } from "../src/agent/workspace/change-tools.ts";
import { readTool } from "../src/agent/workspace/read-tool.ts";
import { listTool, searchTool } from "../src/agent/workspace/search-tool.ts";
import { shellTool } from "../src/agent/workspace/shell-tool.ts";
import {
  createWorkspaceContext,
  runTool,
  type WorkspaceDomainOptions,
} from "../src/agent/workspace/workspace-domain.ts";
import type { WorkspaceTool } from "../src/agent/workspace/workspace-tool.ts";
import { isProblem } from "../src/base/problems/problem.ts";

export type ToolResponse<T> =
  | { readonly success: true; readonly result: T; readonly text: unknown }
  | { readonly success: false; readonly error: string; readonly message: string };

/** The tools of a workspace without a gateway. Everything that is thrown must be a problem, and becomes a response. */
export function openWorkspace(options: WorkspaceDomainOptions) {
  const context = createWorkspaceContext(options);
  const open =
    <Schema extends z.ZodType, T>(tool: WorkspaceTool<Schema, T>) =>
    async (input: unknown, signal?: AbortSignal): Promise<ToolResponse<T>> => {
      const parsed = tool.inputSchema.safeParse(input);
      if (!parsed.success)
        return { success: false, error: "INVALID_PARAMS", message: String(parsed.error.message) };
      try {
        const result = await runTool<T>(tool, parsed.data, context, signal);
        return { success: true, result, text: tool.toText?.(result) };
      } catch (error) {
        if (!isProblem(error)) throw error;
        return { success: false, error: error.code, message: error.message };
      }
    };
  return {
    read: open(readTool),
    list: open(listTool),
    search: open(searchTool),
    write: open(writeTool),
    edit: open(editTool),
    delete: open(deleteTool),
    shell: open(shellTool),
  };
}
