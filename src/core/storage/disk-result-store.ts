import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { createRedact } from "../../base/safety/redact.ts";
import { isRunning } from "../../base/util/process-marker.ts";
import { FOREVER_MS } from "../../base/util/storage.ts";
import { mintHandle } from "../sessions/mint-handle.ts";
import { createResultStore, type ResultStore } from "./result-store.ts";
import { openSqliteStorage } from "./sql-storage.ts";

/** Options of {@link createDiskResultStore}. */
export interface DiskResultStoreOptions {
  /** Folder for the file of this process. Created on first use, readable only by its owner. */
  readonly path: string;
  /** Texts that must not be written, besides those that look like secrets. */
  readonly secrets?: readonly string[];
  /**
   * Bytes of all results. Beyond this, the least recently used are deleted, first of the principal that has most. One
   * principal keeps at most half. Default: 512 Mi.
   */
  readonly maxChars?: number;
}

/** A {@link ResultStore} on disk. */
export interface DiskResultStore extends ResultStore {
  /** Deletes all results. */
  clear(): void;
}

const MAX_RESULTS = 1_000;
const MAX_CHARS = 512 * 1024 * 1024;

/**
 * Stores results in a SQLite file of this process. Only this process knows its handles, so files of ended processes are
 * deleted. See {@link ResultStore}.
 * @example
 * ```ts
 * import { createDiskResultStore, createGateway } from "keyhole";
 *
 * const results = createDiskResultStore({ path: "results" });
 * const gateway = createGateway({ domains: [], results });
 * await gateway.close();
 * results.clear();
 * ```
 */
export function createDiskResultStore(options: DiskResultStoreOptions): DiskResultStore {
  const { path, secrets = [], maxChars = MAX_CHARS } = options;
  const redact = createRedact(secrets, { kinds: true });
  const folder = join(path, `${process.pid}-${mintHandle("")}`);
  const { open, close } = openSqliteStorage(join(folder, "results.db"));
  removeOrphans(path);
  const results = createResultStore(open, {
    all: { entries: MAX_RESULTS, size: maxChars },
    perOwner: { entries: MAX_RESULTS / 2, size: maxChars / 2 },
    ttlMs: FOREVER_MS,
    toText: (value) => JSON.stringify(redact(hideSecrets(value))),
  });
  return {
    ...results,
    clear: () => {
      close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function removeOrphans(path: string): void {
  for (const name of existsSync(path) ? readdirSync(path) : []) {
    const pid = /^(\d{1,10})-/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid)))
      rmSync(join(path, name), { recursive: true, force: true });
  }
}
