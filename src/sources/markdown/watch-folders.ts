import { type FSWatcher, watch } from "node:fs";

/** Calls a listener when something happens in folders. The listener finds out what changed. */
export interface FolderWatch {
  /** Watches exactly these folders. True if some are new, so that events may have been missed. */
  follow(folders: readonly string[]): boolean;
  close(): void;
}

/** Interval of calls when the system has no watchers left. */
const POLL_MS = 2_000;

/** Uses one watcher for each folder, as operating systems offer it. How an editor saves does not matter. */
export function watchFolders(onEvent: () => void): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let poll: NodeJS.Timeout | undefined;

  function open(folder: string): boolean {
    try {
      const watcher = watch(folder, { persistent: false }, onEvent);
      watcher.on("error", () => {
        close(folder);
        onEvent();
      });
      watchers.set(folder, watcher);
      return true;
    } catch {
      poll ??= setInterval(onEvent, POLL_MS).unref();
      return false;
    }
  }

  function close(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  return {
    follow: (folders) => {
      const wanted = new Set(folders);
      for (const folder of [...watchers.keys()]) if (!wanted.has(folder)) close(folder);
      return folders.filter((folder) => !watchers.has(folder) && open(folder)).length > 0;
    },
    close: () => {
      clearInterval(poll);
      for (const folder of [...watchers.keys()]) close(folder);
    },
  };
}
