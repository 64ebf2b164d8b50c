import { open, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { cleanText } from "../util/clean-text.ts";

const NAME = "AGENTS.md";
const MAX_BYTES = 32 * 1024;
const MAX_FOLDERS = 64;

/** The AGENTS.md of a project. */
export interface AgentsFile {
  readonly path: string;
  readonly text: string;
}

/** Reads the first 32 KB of the nearest AGENTS.md, from a folder up to the project's root. */
export async function readAgentsFile(folder: string): Promise<AgentsFile | undefined> {
  let current = resolve(folder);
  for (let looked = 0; looked < MAX_FOLDERS; looked++) {
    const path = join(current, NAME);
    const text = await readStart(path);
    if (text !== undefined && text.trim() !== "") return { path, text: cleanText(text) };
    const parent = dirname(current);
    if (parent === current || (await exists(join(current, ".git")))) return undefined;
    current = parent;
  }
  return undefined;
}

async function readStart(path: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isFile()) return undefined;
    const file = await open(path, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
      // Drops a character that the limit cuts in two.
      return new TextDecoder().decode(buffer.subarray(0, bytesRead), { stream: true });
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
