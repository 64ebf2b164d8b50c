import { lstat, rmdir, unlink } from "node:fs/promises";
import { z } from "zod";
import { loadFile } from "./file-content.ts";
import { withPath, withPinnedFolder } from "./pinned-folder.ts";
import { fail, succeed } from "./tool-response.ts";
import { pathSchema, permitted, type Run } from "./workspace-tool.ts";

export const deleteInput = z.strictObject({ path: pathSchema });

export interface DeleteOutput {
  readonly path: string;
  readonly kind: "file" | "folder" | "link";
}

/** Deletes a file, a link (not its target) or an empty folder. */
export const runDelete: Run<typeof deleteInput, DeleteOutput> = async (input, context, signal) => {
  const path = await permitted(context, "fs-delete", input.path, signal);
  if (path === context.root) return fail("INVALID_PARAMS", "The project's folder itself cannot be deleted.");
  signal?.throwIfAborted();
  const before = context.checkpoints && (await loadFile(path).catch(() => undefined));
  const kind = await withPinnedFolder(path, async (pinned) => {
    const stat = await lstat(pinned);
    if (!stat.isDirectory()) await unlink(pinned);
    else await rmdir(pinned);
    if (stat.isDirectory()) return "folder";
    return stat.isSymbolicLink() ? "link" : "file";
  }).catch((error) => {
    throw withPath(error, input.path);
  });
  context.seen.delete(path);
  if (kind === "file" && before) context.checkpoints?.note(path, before, undefined);
  return succeed({ path: input.path, kind }, `Deleted the ${kind} ${input.path}.`);
};
