import { problem } from "../../base/problems/problem.ts";
import { type Clock, systemClock } from "../../base/util/clock.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { readAuditFolder } from "./audit-folder.ts";
import type { AuditStore } from "./audit-store.ts";
import { type ChainWriter, openChain, type TimedEvent } from "./chain-writer.ts";

/** Options of {@link createFileAuditStore}. */
export interface FileAuditStoreOptions {
  /** The folder of the log. It is created on first use, for its owner only. */
  readonly path: string;
  /**
   * When records are flushed to the disk. They survive a crash of the process in any case; this is about a crash of
   * the machine. `each`: before the call runs. `second`: within a second, the default. `never`: the system decides.
   */
  readonly sync?: "each" | "second" | "never";
  /** Bytes after which a new file is begun. Default: 8 Mi. */
  readonly maxFileBytes?: number;
  /** Beyond this many files of a chain the oldest are deleted, which the log records. Default: 128. */
  readonly maxFiles?: number;
  /** Clock, for tests. Default: the system's. */
  readonly clock?: Clock;
}

const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_FILES = 128;
const MAX_WAITING = 10_000;
/** Events that are written at a time. */
const CHUNK = 256;
/** How long the end of a call may wait to be written. */
const WRITE_MS = 20;
const CHECK_MS = 1_000;

/**
 * Keeps the audit log in a folder, as lines of JSON. Several processes may use the folder: each writes a chain of its
 * own, and goes on with one that no process writes any more. See {@link GatewayOptions}.
 *
 * @example
 * ```ts
 * import { createFileAuditStore, createGateway } from "keyhole";
 *
 * const store = createFileAuditStore({ path: "audit" });
 * const gateway = createGateway({ domains: [], audit: { store } });
 * await gateway.close();
 * await store.close();
 * ```
 */
export function createFileAuditStore(options: FileAuditStoreOptions): AuditStore {
  const { path, sync = "second", clock = systemClock } = options;
  const limits = {
    maxFileBytes: options.maxFileBytes ?? MAX_FILE_BYTES,
    maxFiles: Math.max(2, options.maxFiles ?? MAX_FILES),
  };
  let waiting: TimedEvent[] = [];
  let dropped = 0;
  let writer: ChainWriter | undefined;
  let stopWriting: (() => void) | undefined;
  let stopChecking: (() => void) | undefined;
  let syncing: Promise<void> | undefined;
  let unsynced: unknown;

  /** Writes the waiting events. After a failure the chain is opened again, which is the one way to recover. */
  function write(): void {
    if (waiting.length === 0) return;
    try {
      if (dropped > 0) letGo();
      writer ??= openChain(path, limits, dropped);
      while (waiting.length > 0) {
        writer.write(waiting.slice(0, CHUNK));
        waiting = waiting.slice(CHUNK);
        dropped = 0;
      }
    } catch (error) {
      letGo();
      throw problem("AUDIT_FAILED", { path, reason: reasonOf(error) });
    }
    stopChecking ??= clock.after(CHECK_MS, () => void check());
  }

  function letGo(): void {
    try {
      writer?.close();
    } finally {
      writer = undefined;
    }
  }

  /** Callers that wait at the same time share one flush to the disk. */
  function syncNow(): Promise<void> {
    syncing ??= Promise.resolve().then(async () => {
      syncing = undefined;
      try {
        await writer?.sync();
      } catch (error) {
        letGo();
        throw problem("AUDIT_FAILED", { path, reason: reasonOf(error) });
      }
    });
    return syncing;
  }

  async function check(): Promise<void> {
    stopChecking = undefined;
    if (sync === "second") {
      await syncNow().catch((error: unknown) => {
        unsynced = error;
      });
    }
    // A deleted file would take the records with it.
    if (writer?.isGone()) letGo();
  }

  return {
    add: (event) => {
      waiting.push({ event, at: clock.now() });
      if (waiting.length > MAX_WAITING) {
        waiting.shift();
        dropped += 1;
      }
      stopWriting ??= clock.after(WRITE_MS, () => {
        stopWriting = undefined;
        try {
          write();
        } catch {
          // The events wait, and the next flush reports the failure.
        }
      });
    },
    flush: async () => {
      const failure = unsynced;
      unsynced = undefined;
      if (failure) throw failure;
      write();
      if (sync === "each") await syncNow();
    },
    chains: async () => readAuditFolder(path),
    close: async () => {
      stopChecking?.();
      stopWriting?.();
      try {
        write();
        if (sync !== "never") await writer?.sync();
      } finally {
        letGo();
      }
    },
  };
}
