import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

const MAX_FOLDERS = 64;

/**
 * Lists the folders from this one up to the root of its repository, nearest first. Outside of a repository this
 * folder stands alone, because its parents may belong to others.
 */
export async function projectFolders(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (let current = resolve(folder); found.length < MAX_FOLDERS; current = dirname(current)) {
    found.push(current);
    if (await exists(join(current, ".git"))) return found;
    if (dirname(current) === current) break;
  }
  return found.slice(0, 1);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
