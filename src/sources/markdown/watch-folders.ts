import { type FSWatcher, watch } from "node:fs";

/** Tells when something happens in folders. What has happened is for the listener to find out. */
export interface FolderWatch {
  /** Watches these and no others; true where some of them are new, so that events may have been missed. */
  follow(folders: readonly string[]): boolean;
  close(): void;
}

/** How often the listener is called where the system has no watchers left. */
const POLL_MS = 2_000;

/** One watcher a folder: that is what operating systems offer, and it needs no rule for how editors save. */
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
