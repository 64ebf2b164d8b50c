import {
  chmodSync,
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { problem } from "../../base/problems/problem.ts";
import { type Clock, systemClock } from "../../base/util/clock.ts";
import { makeFolder } from "../../base/util/make-folder.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import {
  type ChainFile,
  fileName,
  headName,
  listChainFiles,
  MAX_LINE_BYTES,
  readHead,
  toHeadText,
} from "./audit-folder.ts";
import type { ChainWriter } from "./audit-log.ts";
import { type AuditHead, type AuditRecord, EMPTY, readAuditLine } from "./audit-store.ts";

/** Options of {@link createFileAuditStore}. */
export interface FileAuditStoreOptions {
  /** Folder of the log. Created on first use, readable only by its owner. */
  readonly path: string;
  /**
   * When records are flushed to the disk, for a crash of the machine; every record survives a crash of the process.
   * `each`: before the call runs. `second`: within a second. `never`: when the system decides. Default: `second`.
   */
  readonly sync?: "each" | "second" | "never";
  /** Bytes of a file before the next one begins. Default: 8 Mi. */
  readonly maxFileBytes?: number;
  /** Files of a chain before the oldest is deleted, which the log records. Default: 128. */
  readonly maxFiles?: number;
  /** Clock, for tests. Default: the system's. */
  readonly clock?: Clock;
}

const MAX_CHAINS = 64;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_FILES = 128;
const SYNC_MS = 1_000;
const datasync = promisify(fdatasync);

/** A chain in the files of a folder, locked for this process. */
export class FileChain implements ChainWriter {
  readonly head: AuditHead;
  keptFrom: number;
  readonly gaps: NonNullable<ChainWriter["gaps"]>;
  private readonly options: FileAuditStoreOptions;
  private readonly lock: ReturnType<typeof lockChain>;
  private readonly files: ChainFile[];
  private readonly headFile: number;
  private file: OpenFile | undefined;
  private seq: number;
  private outdated: readonly ChainFile[] = [];
  private stopTimer: (() => void) | undefined;
  /** Why the last flush to the disk failed. */
  private failure: unknown;

  /**
   * Takes the first chain that no process writes, or begins one. Cuts off an unfinished record and continues after the
   * last whole one.
   *
   * @throws AUDIT_FAILED, here and in all methods.
   */
  static open(options: FileAuditStoreOptions): FileChain {
    const { path } = options;
    return attempt(path, () => {
      makeFolder(path);
      chmodSync(path, 0o700);
      const lock = lockChain(path);
      try {
        return new FileChain(options, lock);
      } catch (error) {
        lock.release();
        throw error;
      }
    });
  }

  private constructor(options: FileAuditStoreOptions, lock: ReturnType<typeof lockChain>) {
    const { path } = options;
    this.options = options;
    this.lock = lock;
    this.files = listChainFiles(path).filter(({ chain }) => chain === lock.chain);
    const { file, head, keptFrom, gaps } = recoverChain(path, this.files, readHead(path, lock.chain));
    this.file = file;
    this.head = head;
    this.seq = head.seq;
    this.keptFrom = keptFrom;
    this.gaps = gaps;
    this.headFile = openFile(path, headName(lock.chain), 0).fd;
  }

  turn(): boolean {
    const { path, maxFileBytes = MAX_FILE_BYTES, maxFiles = MAX_FILES } = this.options;
    if (this.file && this.file.size < maxFileBytes) return false;
    attempt(path, () => {
      const first = this.seq + 1;
      const name = fileName(this.lock.chain, first);
      if (this.file) {
        fsyncSync(this.file.fd);
        closeSync(this.file.fd);
        this.file = undefined;
      }
      this.file = openFile(path, name);
      syncFolder(path);
      this.files.push({ chain: this.lock.chain, first, name });
      this.outdated = this.files.splice(0, Math.max(0, this.files.length - Math.max(2, maxFiles)));
      if (this.outdated.length > 0) this.keptFrom = this.files[0]!.first;
    });
    return true;
  }

  async append(lines: readonly string[], head: AuditHead): Promise<boolean> {
    const { path } = this.options;
    const file = this.file!;
    const text = lines.map((line) => `${line}\n`).join("");
    // A deleted file would lose the records.
    if (fstatSync(file.fd).nlink === 0) return false;
    attempt(path, () => {
      try {
        writeFileSync(file.fd, text);
        writeSync(this.headFile, toHeadText(head), 0);
      } catch (error) {
        ftruncateSync(file.fd, file.size);
        throw error;
      }
    });
    file.size += Buffer.byteLength(text);
    this.seq = head.seq;
    for (const { name } of this.outdated) rmSync(join(path, name), { force: true });
    this.outdated = [];
    return true;
  }

  async sync(): Promise<void> {
    const { sync = "second", clock = systemClock } = this.options;
    if (sync === "each") await this.flushFile();
    this.checkFlushed();
    if (sync !== "second") return;
    this.stopTimer ??= clock.after(SYNC_MS, () => {
      this.stopTimer = undefined;
      void this.flushFile();
    });
  }

  async close(): Promise<void> {
    this.stopTimer?.();
    if (this.options.sync !== "never") await this.flushFile();
    if (this.file) closeSync(this.file.fd);
    this.file = undefined;
    closeSync(this.headFile);
    this.lock.release();
    this.checkFlushed();
  }

  private checkFlushed(): void {
    const { path } = this.options;
    if (this.failure) throw problem("AUDIT_FAILED", { path, reason: reasonOf(this.failure) });
  }

  private async flushFile(): Promise<void> {
    const fd = this.file?.fd;
    if (fd === undefined) return;
    try {
      await datasync(fd);
    } catch (error) {
      // A file that was closed meanwhile is already on disk.
      if (this.file?.fd === fd) this.failure = error;
    }
  }
}

function attempt<T>(path: string, task: () => T): T {
  try {
    return task();
  } catch (error) {
    throw problem("AUDIT_FAILED", { path, reason: reasonOf(error) });
  }
}

function lockChain(folder: string): { chain: number; release: () => void } {
  for (let chain = 1; chain <= MAX_CHAINS; chain += 1) {
    const release = holdLock(join(folder, `${chain}.lock`));
    if (release) return { chain, release };
  }
  throw problem("LIMIT_EXCEEDED", {
    what: "The number of processes that write the audit log",
    actual: "more",
    limit: MAX_CHAINS,
  });
}

/** Without this, a crash of the machine could lose the file. Some systems cannot open folders. */
function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, "r");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    return;
  }
}

/**
 * Takes a lock that the system releases when the process ends in any way. Returns its release, or undefined if another
 * process holds it. It locks an empty SQLite file, because Node has no file locks; nothing else may open that file.
 */
export function holdLock(path: string): (() => void) | undefined {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    file.exec("BEGIN EXCLUSIVE");
    return () => file.close();
  } catch (error) {
    file.close();
    if ((error as { errcode?: unknown }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}

const SQLITE_BUSY = 5;

interface OpenFile {
  readonly fd: number;
  size: number;
}

/** The end of a chain, where the next record goes. */
interface ChainEnd {
  readonly file?: OpenFile;
  readonly head: AuditHead;
  readonly keptFrom: number;
  readonly gaps: FileChain["gaps"];
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;

/** Finds the end of a chain. If records are missing before the head, the chain continues after it: the gap shows. */
function recoverChain(folder: string, files: ChainFile[], storedHead: AuditHead | undefined): ChainEnd {
  let torn = 0;
  for (let newest = files.at(-1); newest; newest = files.at(-1)) {
    const file = openFile(folder, newest.name);
    const end = readEnd(file);
    torn += end.torn;
    file.size -= end.torn;
    if (end.torn > 0) ftruncateSync(file.fd, file.size);
    if (file.size > 0)
      return { file, ...endOf(file, end.line, newest.first, storedHead), gaps: gapsOf(torn, !storedHead) };
    // The process ended before it wrote the first record of the file.
    closeSync(file.fd);
    rmSync(join(folder, newest.name));
    files.pop();
  }
  return { head: storedHead ?? EMPTY, keptFrom: 1, gaps: gapsOf(torn, false) };
}

function gapsOf(torn: number, isHeadless: boolean): ChainEnd["gaps"] {
  return { ...(torn > 0 && { torn }), ...(isHeadless && { headless: true }) };
}

function endOf(file: OpenFile, line: string, first: number, savedHead: AuditHead | undefined) {
  const last = readAuditLine(line);
  const begun = readBeginning(file);
  const head = last && last.seq > (savedHead?.seq ?? 0) ? { seq: last.seq, hash: last.hash } : savedHead;
  return {
    // Without a trustworthy end, verification finds the damage before this position.
    head: head ?? { seq: first, hash: EMPTY.hash },
    keptFrom: begun?.kind === "log-opened" ? begun.keptFrom : 1,
  };
}

/** The last whole line, and the bytes after it. */
function readEnd({ fd, size }: OpenFile): { line: string; torn: number } {
  const start = Math.max(0, size - 2 * MAX_LINE_BYTES);
  const bytes = readPart(fd, start, size - start);
  const end = bytes.lastIndexOf(10);
  if (end === -1) return { line: "", torn: start === 0 ? size : 0 };
  const before = bytes.lastIndexOf(10, end - 1);
  return { line: bytes.toString("utf8", before + 1, end), torn: bytes.length - end - 1 };
}

/** The first record of a file, which names the oldest stored record. */
function readBeginning({ fd, size }: OpenFile): AuditRecord | undefined {
  const bytes = readPart(fd, 0, Math.min(size, MAX_LINE_BYTES));
  return readAuditLine(bytes.toString("utf8", 0, Math.max(0, bytes.indexOf(10))));
}

function readPart(fd: number, start: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, length === 0 ? 0 : readSync(fd, bytes, 0, length, start));
}

/** Opens a file readable only by its owner. Follows no link. */
function openFile(folder: string, name: string, append: number = O_APPEND): OpenFile {
  const fd = openSync(join(folder, name), O_RDWR | O_CREAT | O_NOFOLLOW | append, 0o600);
  return { fd, size: fstatSync(fd).size };
}
