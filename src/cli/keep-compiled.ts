import { lstatSync, mkdirSync } from "node:fs";
import { enableCompileCache, flushCompileCache } from "node:module";
import { join } from "node:path";
import { cacheFolder } from "./user-folders.ts";

/** Clients often kill their servers, so the compile cache is written before they can. */
const KEEP_COMPILED_MS = 3_000;

/**
 * Keeps compiled code for the next start, in a folder of the owner alone: whoever can write there can plant code.
 * Without such a folder nothing is kept.
 */
export function keepCompiled(): void {
  const folder = join(cacheFolder(), "compiled");
  if (!isOwn(folder)) return;
  enableCompileCache(folder);
  setTimeout(flushCompileCache, KEEP_COMPILED_MS).unref();
}

function isOwn(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const about = lstatSync(folder);
    const isMine = process.getuid === undefined || about.uid === process.getuid();
    // Windows keeps user folders apart by access lists, which the mode does not show.
    const isPrivate = process.platform === "win32" || (about.mode & 0o077) === 0;
    return about.isDirectory() && isMine && isPrivate;
  } catch {
    return false;
  }
}
