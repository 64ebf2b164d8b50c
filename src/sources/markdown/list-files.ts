import { type Dirent, readdirSync, statSync } from "node:fs";
import { sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type FileKind, FOLDERS } from "./files/library-file.ts";

export interface FoundFile {
  readonly path: string;
  readonly kind: FileKind;
  readonly stamp: string;
  readonly bytes: number;
}

export interface FoundFiles {
  readonly files: readonly FoundFile[];
  /** Absolute paths of the folders to watch. */
  readonly folders: readonly string[];
}

const MAX_FILES = 100_000;
const SLICE = 512;
/** A file this young may change again without a new time. */
const RACY_MS = 50;

/**
 * Lists the Markdown files of a library with their stamps, ordered by path. Undefined without the directory. Skips
 * links, hidden files and hidden folders. Synchronous calls, a slice at a time, take a quarter of the time that the
 * thread pool takes.
 */
export async function listFiles(directory: string): Promise<FoundFiles | undefined> {
  const top = readFolder(directory);
  if (top === undefined) return undefined;
  const files: FoundFile[] = [];
  const folders = [directory];
  const waiting = top
    .filter((entry) => entry.isDirectory() && Object.hasOwn(FOLDERS, entry.name))
    .map(({ name }) => name);
  let listed = 0;
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const kind = FOLDERS[path.split("/", 1)[0] ?? ""]!;
    const folder = `${directory}${sep}${path}`;
    folders.push(folder);
    for (const entry of readFolder(folder) ?? []) {
      if (entry.name.startsWith(".")) continue;
      const inner = `${path}/${entry.name}`;
      if (entry.isDirectory()) waiting.push(inner);
      if (!entry.isFile() || !entry.name.endsWith(".md") || files.length >= MAX_FILES) continue;
      const found = stampOf(`${folder}${sep}${entry.name}`);
      if (found) files.push({ path: inner, kind, ...found });
      listed += 1;
      if (listed % SLICE === 0) await setImmediate();
    }
  }
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files, folders };
}

/** Undefined if the file is gone. */
export function stampOf(file: string): { stamp: string; bytes: number } | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const racy = Date.now() - stat.mtimeMs < RACY_MS ? "?" : "";
  return { stamp: `${stat.size}-${stat.mtimeMs}${racy}`, bytes: stat.size };
}

function readFolder(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}
