import { constants, open, realpath, stat } from "node:fs/promises";
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
    if (await stat(join(current, ".git")).catch(() => undefined)) return found;
    if (dirname(current) === current) break;
  }
  return found.slice(0, 1);
}

/** The real path of a folder, also if it is missing. */
export async function realFolder(folder: string): Promise<string> {
  return realpath(folder).catch(() => resolve(folder));
}

/** Reads the first `maxBytes` of a text file. Undefined for anything else: a pipe or a device could block or never end. */
export async function readStart(path: string, maxBytes: number): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  try {
    if (!(await file?.stat())?.isFile()) return undefined;
    const { buffer, bytesRead } = await file!.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    // Drops a character that the limit cuts in two.
    return new TextDecoder().decode(buffer.subarray(0, bytesRead), { stream: true });
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
