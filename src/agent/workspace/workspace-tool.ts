import { z } from "zod";
import type { CallContext, Example, Lane } from "../../core/nouns/entry.ts";
import type { Isolation } from "../../sources/isolation/mounts.ts";
import { beginCall } from "../loop/run-context.ts";
import type { FileScope } from "../permissions/permission.ts";
import type { Permissions, Preview } from "../permissions/permissions.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { refusal } from "./tool-problem.ts";

export interface WorkspaceContext {
  readonly root: string;
  readonly permissions: Permissions;
  /** The SHA-256 of each file when it was last read or written here, by path. The oldest may be forgotten. */
  readonly seen: Pick<Map<string, string>, "get" | "has" | "delete"> & {
    set(path: string, hash: string): unknown;
  };
  /** Variables that commands get beside those that most programs need. */
  readonly environment: Readonly<Record<string, string>>;
  readonly shell: string;
  /** Limits what commands see and reach, if this machine can. */
  readonly isolation?: Isolation | undefined;
  readonly checkpoints?: Checkpoints | undefined;
  /** Asks the person of the call. */
  readonly ask?: CallContext["ask"];
}

/** A tool for the files or commands of a project. It asks for permission itself. */
export interface WorkspaceTool<Schema extends z.ZodType = z.ZodType, Output = unknown> {
  readonly name: string;
  readonly lane: Lane;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly examples: readonly Example[];
  readonly phrases: readonly string[];
  readonly look?: "ends";
  run(input: z.output<Schema>, context: WorkspaceContext, signal?: AbortSignal): Promise<Output>;
  /** The result as the model reads it. Default: as it is. */
  toText?(output: Output): unknown;
}

export function defineWorkspaceTool<Schema extends z.ZodType, Output>(
  tool: WorkspaceTool<Schema, Output>,
): WorkspaceTool<Schema, Output> {
  return tool;
}

export const pathSchema = z
  .string()
  .min(1)
  .max(4_096)
  .refine((path) => !path.includes("\0"), "must not contain NUL")
  .describe("relative to the project's folder, or absolute");

/**
 * Asks for permission and returns the path to use.
 * @throws `PERMISSION_DENIED`
 */
export async function permitted(
  { permissions, ask }: WorkspaceContext,
  scope: FileScope,
  given: string,
  signal?: AbortSignal,
  preview?: Preview,
): Promise<string> {
  const options = { signal, ask, ...(preview && { preview }) };
  const outcome = await permissions.file(scope, given, options);
  if (outcome.allowed && scope !== "fs-read") await beginCall();
  if (outcome.allowed) return outcome.path;
  throw refusal(`${scope} of ${given}`, outcome);
}
