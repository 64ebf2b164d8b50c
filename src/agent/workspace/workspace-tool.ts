import { z } from "zod";
import type { FileScope } from "../permissions/permission.ts";
import type { Permissions, Preview } from "../permissions/permissions.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { fail, type ToolResponse, toFailure, toProblem } from "./tool-response.ts";

/** Hashes of files by path. It may forget the oldest. */
export interface FileHashes {
  get(path: string): string | undefined;
  has(path: string): boolean;
  set(path: string, hash: string): unknown;
  delete(path: string): unknown;
}

/** The state that the tools of one workspace share. */
export interface WorkspaceContext {
  readonly root: string;
  readonly permissions: Permissions;
  /** The SHA-256 of each file when it was last read or written here, by path. */
  readonly seen: FileHashes;
  /** Names of further variables that commands get. */
  readonly environment: readonly string[];
  readonly shell: string;
  readonly checkpoints?: Checkpoints | undefined;
}

/** A tool that checks its input, asks for permission, and never throws. */
export type WorkspaceTool<T> = (input: unknown, signal?: AbortSignal) => Promise<ToolResponse<T>>;

/** The work of a tool on checked input. */
export type ToolRun<S extends z.ZodType, T> = (
  input: z.output<S>,
  context: WorkspaceContext,
  signal?: AbortSignal,
) => Promise<ToolResponse<T>>;

/** A path as file systems take it. */
export const pathSchema = z
  .string()
  .min(1)
  .max(4_096)
  .refine((path) => !path.includes("\0"), "must not contain NUL")
  .describe("relative to the project's folder, or absolute");

/** Makes a tool of its input schema and its work. */
export function toTool<S extends z.ZodType, T>(
  schema: S,
  run: ToolRun<S, T>,
  context: WorkspaceContext,
): WorkspaceTool<T> {
  return async (input, signal) => {
    const parsed = schema.safeParse(input);
    if (!parsed.success) return fail("INVALID_PARAMS", z.prettifyError(parsed.error));
    try {
      signal?.throwIfAborted();
      return await run(parsed.data, context, signal);
    } catch (error) {
      return toFailure(error);
    }
  };
}

/**
 * Asks for permission and returns the path to use.
 * @throws `TOOL_FAILED` if permission is denied.
 */
export async function permitted(
  { permissions }: WorkspaceContext,
  scope: FileScope,
  given: string,
  signal?: AbortSignal,
  preview?: Preview,
): Promise<string> {
  const options = { signal, ...(preview && { preview }) };
  const { allowed, reason, path } = await permissions.file(scope, given, options);
  if (allowed) return path;
  throw toProblem(fail("PERMISSION_DENIED", `${scope} of ${given}: ${reason}`));
}
