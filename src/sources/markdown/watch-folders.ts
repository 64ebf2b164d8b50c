import { type Dirent, type FSWatcher, readdirSync, watch } from "node:fs";
import { sep } from "node:path";
import type { Clock } from "../../base/util/clock.ts";

export type FolderWatch = ReturnType<typeof watchFolders>;

/** Saving a file takes several steps. It ends after a quiet time, or when it takes too long. */
const QUIET_MS = 40;
const LONGEST_MS = 400;
/** Interval of calls when the system has run out of watchers. */
const POLL_MS = 2_000;

/**
 * Calls a listener after changes in folders; the listener finds out what changed. Uses one watcher for each folder, as
 * operating systems offer, and works for every way in which editors save.
 */
export function watchFolders(onChange: () => void, clock: Clock) {
  const watchers = new Map<string, FSWatcher>();
  let poll: NodeJS.Timeout | undefined;
  let latest: number | undefined;
  let cancel = () => {};

  function note(): void {
    const now = clock.monotonic();
    latest ??= now + LONGEST_MS;
    cancel();
    cancel = clock.after(Math.max(0, Math.min(QUIET_MS, latest - now)), () => {
      latest = undefined;
      onChange();
    });
  }

  function open(folder: string): boolean {
    try {
      const watcher = watch(folder, { persistent: false }, note);
      watcher.on("error", () => {
        close(folder);
        note();
      });
      watchers.set(folder, watcher);
      return true;
    } catch {
      poll ??= setInterval(note, POLL_MS).unref();
      return false;
    }
  }

  function close(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  return {
    /** Watches exactly these folders. A new folder counts as a change, because earlier events may have been missed. */
    follow: (folders: readonly string[]): void => {
      const next = new Set(folders);
      for (const folder of [...watchers.keys()]) if (!next.has(folder)) close(folder);
      const opened = [...next].filter((folder) => !watchers.has(folder) && open(folder));
      if (opened.length > 0) note();
    },
    /** Something may have changed. */
    note,
    close: (): void => {
      cancel();
      clearInterval(poll);
      for (const folder of [...watchers.keys()]) close(folder);
    },
  };
}

/** Yields folders' content at every depth, without links to folders and `skips`. Adds readable folders to `folders`. */
export function* walkFolders(
  roots: readonly string[],
  folders: string[],
  skips: (name: string) => boolean = () => false,
): Generator<{ readonly path: string; readonly entry: Dirent }> {
  const waiting = [...roots];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = readFolder(folder);
    if (entries) folders.push(folder);
    for (const entry of entries ?? []) {
      if (skips(entry.name)) continue;
      const path = `${folder}${sep}${entry.name}`;
      if (entry.isDirectory()) waiting.push(path);
      else yield { path, entry };
    }
  }
}

/** Undefined if the folder cannot be read. */
export function readFolder(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}
