import { lstat, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { problem } from "../../schema/problem.ts";

const MAX_LINKS = 40;
const MISSING = Symbol("missing");

/**
 * The absolute path that the system would reach: every link followed in order, `..` taken from where a link
 * leads, also where the last parts do not exist yet.
 * @throws `INVALID_INPUT` for a path with more than 40 links.
 */
export async function resolveLinks(path: string, folder: string): Promise<string> {
  const start = isAbsolute(path) ? path : `${folder}/${path}`;
  let waiting = partsOf(start);
  let current = "/";
  let links = 0;
  /** The first folder that does not exist: nothing below it needs a look. */
  let missing: string | undefined;
  while (waiting.length > 0) {
    const [part = "", ...rest] = waiting;
    waiting = rest;
    if (part === "..") {
      current = dirname(current);
      continue;
    }
    const next = join(current, part);
    const target = missing && next.startsWith(`${missing}/`) ? undefined : await linkTarget(next);
    if (target === undefined || target === MISSING) {
      if (target === MISSING) missing = next;
      current = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS)
      throw problem("INVALID_INPUT", { operation: "the workspace", reason: `${path} has too many links` });
    if (isAbsolute(target)) current = "/";
    waiting = [...partsOf(target), ...waiting];
  }
  return current;
}

/** The target of a link; undefined for everything that is not a link. */
async function linkTarget(path: string): Promise<string | typeof MISSING | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return MISSING;
    throw error;
  }
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
