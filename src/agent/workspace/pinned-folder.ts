import { constants, type FileHandle, open, readlink, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isProblem, problem } from "../../schema/problem.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const HAS_PROC = process.platform === "linux";

/**
 * Works in the folder of a permitted path. Where the system allows it, the folder is held open and reached through
 * its handle, so that replacing it by a link changes nothing.
 * @throws `CONFLICT` if a link has already replaced the folder.
 */
export async function withPinnedFolder<T>(path: string, work: (pinned: string) => Promise<T>): Promise<T> {
  const folder = dirname(path);
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const held = HAS_PROC ? `/proc/self/fd/${handle.fd}` : folder;
    const reached = HAS_PROC ? await readlink(held) : await realpath(folder);
    if (reached !== folder) throw moved(path);
    return await work(join(held, path.slice(folder === "/" ? 1 : folder.length + 1)));
  } finally {
    await handle.close();
  }
}

/**
 * Opens a permitted file for reading.
 * @throws `CONFLICT` if a link has replaced the file.
 */
export async function withOpenFile<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  return withPinnedFolder(path, async (pinned) => {
    const file = await open(pinned, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error) => {
      throw (error as NodeJS.ErrnoException).code === "ELOOP" ? moved(path) : withPath(error, path);
    });
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  });
}

/** The system's error with the permitted path in place of the pinned one. */
export function withPath(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || isProblem(error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? error : Object.assign(error, { message: `${code}: ${path}` });
}

function moved(path: string) {
  return problem("CONFLICT", { reason: `${path} was replaced by a link after it was permitted` });
}
