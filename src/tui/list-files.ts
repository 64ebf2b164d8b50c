import { readdir } from "node:fs/promises";
import { join } from "node:path";

const MOST_FILES = 5_000;
const MOST_FOLDERS = 1_000;
const SKIPPED = new Set(["node_modules", "dist", "build", "target", "__pycache__"]);

/** Paths of a project's files for completion: shallow ones first, without hidden files and links, up to a limit. */
export async function listFiles(root: string): Promise<string[]> {
  const files: string[] = [];
  const folders = [""];
  for (let at = 0; at < folders.length && at < MOST_FOLDERS && files.length < MOST_FILES; at += 1) {
    const folder = folders[at]!;
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    entries.sort((left, right) => (left.name < right.name ? -1 : 1));
    for (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile()) files.push(path);
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(path);
    }
  }
  return files.slice(0, MOST_FILES);
}
