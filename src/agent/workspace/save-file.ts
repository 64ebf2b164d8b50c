import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { problem } from "../../schema/problem.ts";
import { writeFileAtomic } from "../../util/write-file-atomic.ts";
import { type FileContent, hashOf, loadFile } from "./file-content.ts";
import { withPath, withPinnedFolder } from "./pinned-folder.ts";
import type { WorkspaceContext } from "./workspace-tool.ts";

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
  { seen }: WorkspaceContext,
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
  seen.set(path, hashOf(bytes));
}
