import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { createRedact } from "../../base/safety/redact.ts";
import type { Json } from "../../base/util/json.ts";
import { makeFolder } from "../../base/util/make-folder.ts";
import { isRunning } from "../../base/util/process-marker.ts";
import { mintHandle } from "../sessions/mint-handle.ts";
import { createFairCache } from "./fair-cache.ts";
import { RESULT_SCHEME, type ResultStore } from "./result-store.ts";

/** Options of {@link createDiskResultStore}. */
export interface DiskResultStoreOptions {
  /** The folder for the files of this process. It is created on first use, for its owner only. */
  readonly path: string;
  /** Texts that must not be written, beside those that look like secrets. */
  readonly secrets?: readonly string[];
  /**
   * Beyond this many characters the least recently used results are deleted, first of the principal that has most.
   * One principal keeps at most half of them. Default: 512 Mi.
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
 * Keeps results on disk and their handles in memory. Only this process knows its handles, so files of ended
 * processes are deleted. See {@link ResultStore}.
 *
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
  const fileOf = (handle: string) => join(folder, `${handle.slice(RESULT_SCHEME.length)}.json`);
  const pointers = createFairCache<true>({
    all: { entries: MAX_RESULTS, size: maxChars },
    perOwner: { entries: MAX_RESULTS / 2, size: maxChars / 2 },
    ttlMs: Number.POSITIVE_INFINITY,
    onRemoved: (handle) => rmSync(fileOf(handle), { force: true }),
  });
  removeOrphans(path);
  return {
    put: async (handle, result, principalId) => {
      if (pointers.renew(handle, principalId)) return;
      makeFolder(folder);
      const content = JSON.stringify(redact(hideSecrets(result)));
      writeFileSync(fileOf(handle), content, { mode: 0o600, flag: "wx" });
      pointers.set(handle, principalId, true, content.length);
    },
    get: async (handle, principalId) => {
      if (!pointers.renew(handle, principalId)) throw problem("UNKNOWN_HANDLE", { handle });
      try {
        return JSON.parse(readFileSync(fileOf(handle), "utf8")) as Json;
      } catch {
        // Somebody deleted the file: the handle counts as expired.
        throw problem("UNKNOWN_HANDLE", { handle });
      }
    },
    has: async (handle, principalId) => pointers.get(handle, principalId) === true,
    clear: () => {
      pointers.clear();
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
