import { problem } from "../../base/problems/problem.ts";
import { type Clock, systemClock } from "../../base/util/clock.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { readAuditFolder } from "./audit-folder.ts";
import type { AuditChain, AuditEvent, AuditStore, TimedEvent } from "./audit-store.ts";
import { type ChainWriter, openChain } from "./chain-writer.ts";

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
  return new FileAuditStore(options);
}

class FileAuditStore implements AuditStore {
  private readonly path: string;
  private readonly sync: "each" | "second" | "never";
  private readonly clock: Clock;
  private readonly limits: { readonly maxFileBytes: number; readonly maxFiles: number };
  private waiting: TimedEvent[] = [];
  private dropped = 0;
  private writer: ChainWriter | undefined;
  private stopWriting: (() => void) | undefined;
  private stopChecking: (() => void) | undefined;
  private syncing: Promise<void> | undefined;
  private unsynced: unknown;

  constructor(options: FileAuditStoreOptions) {
    const { path, sync = "second", clock = systemClock } = options;
    const { maxFileBytes = MAX_FILE_BYTES, maxFiles = MAX_FILES } = options;
    this.path = path;
    this.sync = sync;
    this.clock = clock;
    this.limits = { maxFileBytes, maxFiles: Math.max(2, maxFiles) };
  }

  add(event: AuditEvent): void {
    this.waiting.push({ event, at: this.clock.now() });
    if (this.waiting.length > MAX_WAITING) {
      this.waiting.shift();
      this.dropped += 1;
    }
    this.stopWriting ??= this.clock.after(WRITE_MS, () => {
      this.stopWriting = undefined;
      try {
        this.write();
      } catch {
        // The events wait, and the next flush reports the failure.
      }
    });
  }

  async flush(): Promise<void> {
    const failure = this.unsynced;
    this.unsynced = undefined;
    if (failure) throw failure;
    this.write();
    if (this.sync === "each") await this.syncNow();
  }

  async chains(): Promise<readonly AuditChain[]> {
    return readAuditFolder(this.path);
  }

  async close(): Promise<void> {
    this.stopChecking?.();
    this.stopWriting?.();
    try {
      this.write();
      if (this.sync !== "never") await this.writer?.sync();
    } finally {
      this.letGo();
    }
  }

  /** Writes the waiting events. After a failure the chain is opened again, which is the one way to recover. */
  private write(): void {
    if (this.waiting.length === 0) return;
    try {
      if (this.dropped > 0) this.letGo();
      this.writer ??= openChain(this.path, this.limits, this.dropped);
      while (this.waiting.length > 0) {
        this.writer.write(this.waiting.slice(0, CHUNK));
        this.waiting = this.waiting.slice(CHUNK);
        this.dropped = 0;
      }
    } catch (error) {
      this.letGo();
      throw problem("AUDIT_FAILED", { path: this.path, reason: reasonOf(error) });
    }
    this.stopChecking ??= this.clock.after(CHECK_MS, () => void this.check());
  }

  private letGo(): void {
    try {
      this.writer?.close();
    } finally {
      this.writer = undefined;
    }
  }

  /** Callers that wait at the same time share one flush to the disk. */
  private syncNow(): Promise<void> {
    this.syncing ??= Promise.resolve().then(async () => {
      this.syncing = undefined;
      try {
        await this.writer?.sync();
      } catch (error) {
        this.letGo();
        throw problem("AUDIT_FAILED", { path: this.path, reason: reasonOf(error) });
      }
    });
    return this.syncing;
  }

  private async check(): Promise<void> {
    this.stopChecking = undefined;
    if (this.sync === "second") {
      await this.syncNow().catch((error: unknown) => {
        this.unsynced = error;
      });
    }
    // A deleted file would take the records with it.
    if (this.writer?.isGone()) this.letGo();
  }
}
