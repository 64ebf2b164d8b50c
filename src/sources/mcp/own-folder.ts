import { lstatSync, type Stats } from "node:fs";
import { makeFolder } from "../../base/util/make-folder.ts";

/** Creates a folder for the owner only. False if that fails, or if others may read or write it. */
export function makeOwnFolder(folder: string): boolean {
  try {
    makeFolder(folder);
    return isOwnFolder(folder);
  } catch {
    return false;
  }
}

/** Stats of a file or folder that belongs to the owner and is writable only by the owner; otherwise undefined. */
export function ownFile(path: string): Stats | undefined {
  const about = lstatSync(path, { throwIfNoEntry: false });
  if (!about || about.isSymbolicLink()) return undefined;
  if (process.platform === "win32") return about;
  return about.uid === process.getuid?.() && (about.mode & 0o022) === 0 ? about : undefined;
}

/** Whether a folder exists and only its owner may use it. */
export function isOwnFolder(folder: string): boolean {
  const about = lstatSync(folder, { throwIfNoEntry: false });
  if (!about?.isDirectory()) return false;
  // Windows protects user folders by access lists, which the mode does not show.
  if (process.platform === "win32") return true;
  return about.uid === process.getuid?.() && (about.mode & 0o077) === 0;
}
