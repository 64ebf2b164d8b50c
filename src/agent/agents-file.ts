import { realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { projectFolders } from "../util/project-folders.ts";
import { readRegularFile } from "../util/read-regular-file.ts";
import { toVisibleText } from "../util/visible-text.ts";

const NAME = "AGENTS.md";
const MAX_BYTES = 32 * 1024;

/** The AGENTS.md of a project. */
export interface AgentsFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Reads the first 32 KB of the nearest AGENTS.md, from a folder up to the root of its repository. Only regular
 * files inside the project count: a link that leads out could show a model any file of the person.
 */
export async function readAgentsFile(folder: string): Promise<AgentsFile | undefined> {
  const folders = await projectFolders(folder);
  const root = folders.at(-1);
  if (root === undefined) return undefined;
  for (const current of folders) {
    const path = join(current, NAME);
    const text = await readInside(path, root);
    if (text !== undefined && text.trim() !== "") return { path, text: toVisibleText(text) };
  }
  return undefined;
}

async function readInside(path: string, root: string): Promise<string | undefined> {
  try {
    const [real, inside] = await Promise.all([realpath(path), realpath(root)]);
    if (!real.startsWith(inside.endsWith(sep) ? inside : inside + sep)) return undefined;
    const bytes = await readRegularFile(real, MAX_BYTES);
    // Drops a character that the limit cuts in two.
    return bytes && new TextDecoder().decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}
