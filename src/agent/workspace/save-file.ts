import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { problem } from "../../schema/problem.ts";
import { writeFileAtomic } from "../../util/write-file-atomic.ts";
import { type FileContent, hashOf, loadFile } from "./file-content.ts";
import { withPath, withPinnedFolder } from "./pinned-folder.ts";
import { toWholeDiff } from "./to-diff.ts";
import { permitted, type WorkspaceContext } from "./workspace-tool.ts";

/** A change of a file before it is made. */
export interface PlannedChange {
  /** The file as it is now; undefined if it does not exist. */
  readonly before: FileContent | undefined;
  /** Its text; undefined if it has none. */
  readonly old: string | undefined;
  readonly text: string;
  /** Undefined if the texts cannot be compared. */
  readonly diff: string | undefined;
}

/**
 * Asks for a change with its diff. The plan is made once, so the change that a person saw is the one that is made.
 * @throws `TOOL_FAILED` if permission is denied, or the problem of the plan.
 */
export async function permittedChange<T extends PlannedChange>(
  given: string,
  plan: (path: string) => Promise<T>,
  context: WorkspaceContext,
  signal: AbortSignal | undefined,
): Promise<{ readonly path: string; readonly change: T }> {
  let planned: Promise<T> | undefined;
  const path = await permitted(context, "fs-write", given, signal, async (target) => {
    planned = plan(target);
    const { old, text, diff } = await planned;
    return diff ?? toWholeDiff(given, old, text);
  });
  const change = await (planned ?? plan(path));
  signal?.throwIfAborted();
  return { path, change };
}

/**
 * Compares a file with its last known content.
 * @throws `CONFLICT` if it has changed since.
 */
export function checkFresh(path: string, current: FileContent | undefined, { seen }: WorkspaceContext): void {
  const known = seen.get(path);
  if (known === undefined || known === current?.hash) return;
  throw problem("CONFLICT", { reason: `${path} has changed since it was read; read it again.` });
}

/**
 * Writes a permitted file.
 * @throws `CONFLICT` if the file no longer has the content `before`.
 */
export async function saveFile(
  path: string,
  text: string,
  before: FileContent | undefined,
  { seen, checkpoints }: WorkspaceContext,
): Promise<void> {
  const bytes = Buffer.from(text, "utf8");
  await mkdir(dirname(path), { recursive: true });
  await withPinnedFolder(path, async (pinned) => {
    const now = await loadFile(path);
    if (now?.hash !== before?.hash) {
      throw problem("CONFLICT", { reason: `${path} was changed by somebody else; read it again.` });
    }
    await writeFileAtomic(pinned, bytes, before?.mode).catch((error) => {
      throw withPath(error, path);
    });
  });
  const hash = hashOf(bytes);
  seen.set(path, hash);
  checkpoints?.note(path, before, hash);
}
