import { randomUUID } from "node:crypto";
import {
  type FSWatcher,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  watch,
} from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../base/util/make-folder.ts";

/** A folder that stands in for a closed one, with some of its files. */
export interface HeldFiles {
  readonly path: string;
  /** Hands over the last changes and removes the folder. */
  close(): void;
}

/**
 * Lets a process replace named files of a folder that it must not write: programs save a file by writing another beside
 * it and renaming that. The process gets a folder of its own in the other's place. A file in both is one file by two
 * names; when one name is given to another file, so is the other. Everything else that the process writes there ends
 * with it.
 */
export function holdFiles(place: string, folder: string, names: readonly string[]): HeldFiles {
  makeFolder(place);
  for (const left of readdirSync(place)) if (!isAlive(Number.parseInt(left, 10))) remove(join(place, left));
  const path = mkdtempSync(join(place, `${process.pid}-`));
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isSymbolicLink() && !names.includes(entry.name))
      symlinkSync(readlinkSync(join(folder, entry.name)), join(path, entry.name));
  const follow = (from: string, to: string): FSWatcher | undefined => {
    for (const name of names) attempt(() => carry(join(from, name), join(to, name)));
    const carryNamed = (_: string, name: string | null) => {
      if (name !== null && names.includes(name)) attempt(() => carry(join(from, name), join(to, name), true));
    };
    return attempt(() => watch(from, { persistent: false }, carryNamed).on("error", () => {}));
  };
  const watchers = [follow(folder, path), follow(path, folder)];
  return {
    path,
    close: () => {
      for (const watcher of watchers) watcher?.close();
      for (const name of names) attempt(() => carry(join(path, name), join(folder, name)));
      remove(path);
    },
  };
}

/** Gives the second path the file of the first if that is newer, or `isNews`: then also its absence. */
function carry(from: string, to: string, isNews = false): void {
  const [given, present] = [factsOf(from), factsOf(to)];
  // A process that plants a link or a folder changes nothing outside.
  if ((given && !given.isFile()) || (present && !present.isFile())) return;
  if (!given) {
    if (present && isNews) unlinkSync(to);
    return;
  }
  if (given.ino === present?.ino || (present && !isNews && given.mtimeMs < present.mtimeMs)) return;
  const draft = `${to}.${randomUUID()}`;
  linkSync(from, draft);
  // The first path may have become a link meanwhile; the draft cannot.
  if (factsOf(draft)?.isFile()) renameSync(draft, to);
  else unlinkSync(draft);
}

function factsOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function isAlive(pid: number): boolean {
  return attempt(() => process.kill(pid, 0)) === true;
}

function remove(path: string): void {
  attempt(() => rmSync(path, { recursive: true, force: true }));
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
