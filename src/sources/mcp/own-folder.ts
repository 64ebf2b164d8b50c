import { lstatSync, type Stats } from "node:fs";
import { makeFolder } from "../../base/util/make-folder.ts";

/** Makes a folder of the owner alone. False if it cannot be made, or if anybody else may write or look into it. */
export function makeOwnFolder(folder: string): boolean {
  try {
    makeFolder(folder);
    return isOwnFolder(folder);
  } catch {
    return false;
  }
}

/** Whether a file or folder exists, and is the owner's, and nobody else may write to it. */
export function isOwn(path: string): boolean {
  return ownFile(path) !== undefined;
}

/** Returns the facts of a file or folder for which {@link isOwn} is true. */
export function ownFile(path: string): Stats | undefined {
  const about = lstatSync(path, { throwIfNoEntry: false });
  if (!about || about.isSymbolicLink()) return undefined;
  if (process.platform === "win32") return about;
  return about.uid === process.getuid?.() && (about.mode & 0o022) === 0 ? about : undefined;
}

/** Whether a folder exists and is of the owner alone. */
export function isOwnFolder(folder: string): boolean {
  const about = lstatSync(folder, { throwIfNoEntry: false });
  if (!about?.isDirectory()) return false;
  // Windows keeps user folders apart by access lists, which the mode does not show.
  if (process.platform === "win32") return true;
  return about.uid === process.getuid?.() && (about.mode & 0o077) === 0;
}
