import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a file atomically: readers find the old content or the new, also after a crash. `mode` sets the permissions
 * after the write; until then only the owner has access. Default: those of a new file.
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array | Iterable<Uint8Array>,
  mode?: number,
): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(draft, "wx", mode === undefined ? undefined : mode & 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
      if (mode !== undefined) await file.chmod(mode);
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Syncs the folder, which puts the rename on disk. Some systems cannot open folders. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch {
    return;
  }
}
