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
import { makeFolder } from "../../base/util/make-folder.ts";
import {
  type ChainFile,
  fileName,
  headName,
  listChainFiles,
  MAX_LINE_BYTES,
  readHead,
  toHeadText,
} from "./audit-folder.ts";
import {
  type AuditEvent,
  type AuditHead,
  type AuditRecord,
  EMPTY,
  readAuditLine,
  type TimedEvent,
  toAuditLines,
} from "./audit-store.ts";

/** Writes one chain of a folder. No other process writes it meanwhile. */
export type ChainWriter = ReturnType<typeof openChain>;

const MAX_CHAINS = 64;
const datasync = promisify(fdatasync);

/**
 * Takes the first chain that no process writes, or begins one, cuts off an unfinished record, and goes on after the
 * last one. The first write also records that the log was opened.
 */
export function openChain(
  folder: string,
  limits: { readonly maxFileBytes: number; readonly maxFiles: number },
  dropped: number,
) {
  makeFolder(folder);
  chmodSync(folder, 0o700);
  const { chain, release } = lockChain(folder);
  let file: OpenFile | undefined;
  let headFile: number | undefined;

  function close(): void {
    if (file) closeSync(file.fd);
    if (headFile !== undefined) closeSync(headFile);
    file = undefined;
    headFile = undefined;
    release();
  }

  try {
    const files = listChainFiles(folder).filter((one) => one.chain === chain);
    const end = recoverChain(folder, files, readHead(folder, chain));
    file = end.file;
    headFile = openFile(folder, headName(chain), 0).fd;
    let { head, keptFrom } = end;
    let opening: object | undefined = {
      ...(end.torn > 0 && { torn: end.torn }),
      ...(dropped > 0 && { dropped }),
      ...(end.isHeadless && { headless: true }),
    };

    /** Begins the next file, and deletes the oldest if there are too many. */
    function rotate(): ChainFile[] {
      const next = { chain, first: head.seq + 1, name: fileName(chain, head.seq + 1) };
      if (file) {
        fsyncSync(file.fd);
        closeSync(file.fd);
      }
      file = openFile(folder, next.name);
      syncFolder(folder);
      files.push(next);
      const outdated = files.splice(0, Math.max(0, files.length - limits.maxFiles));
      if (outdated.length > 0) keptFrom = files[0]!.first;
      opening ??= {};
      return outdated;
    }

    return {
      /** Writes events as the next records. After a failure, none counts as written and the writer is unusable. */
      write: (events: readonly TimedEvent[]): void => {
        const outdated = !file || file.size >= limits.maxFileBytes ? rotate() : [];
        const { fd, size } = file!;
        const first = { kind: "log-opened", pid: process.pid, keptFrom, ...opening } as AuditEvent;
        const all = opening ? [{ event: first, at: events[0]?.at ?? Date.now() }, ...events] : events;
        const { texts, head: next } = toAuditLines(head, all);
        const text = texts.map((line) => `${line}\n`).join("");
        try {
          writeFileSync(fd, text);
          file!.size += Buffer.byteLength(text);
          writeSync(headFile!, toHeadText(next), 0);
        } catch (error) {
          ftruncateSync(fd, size);
          throw error;
        }
        head = next;
        opening = undefined;
        for (const { name } of outdated) rmSync(join(folder, name), { force: true });
      },
      /** Whether the file was deleted or replaced, so that records would go nowhere. */
      isGone: () => file !== undefined && fstatSync(file.fd).nlink === 0,
      /** Flushes the file to the disk. */
      sync: async (): Promise<void> => {
        const fd = file?.fd;
        if (fd === undefined) return;
        try {
          await datasync(fd);
        } catch (error) {
          // A file that was closed meanwhile is on disk already.
          if (file?.fd === fd) throw error;
        }
      },
      close,
    };
  } catch (error) {
    close();
    throw error;
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

/** Without it, a crash of the machine could lose the file. Some systems cannot open folders. */
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
 * Takes a lock that the system releases when the process ends, however it ends. Returns its release, or undefined if
 * another holds it. The lock is that of an empty SQLite file, because Node has none of its own; nothing else may open
 * the file.
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

/** The end of a chain, where it goes on. */
interface ChainEnd {
  readonly file?: OpenFile;
  readonly head: AuditHead;
  readonly keptFrom: number;
  /** Bytes of an unfinished record that were cut off. */
  readonly torn: number;
  readonly isHeadless: boolean;
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;

/**
 * Finds the end of a chain. If the head is ahead of the records, the chain goes on after the head, so that the
 * missing records stay missing for everybody to see.
 */
function recoverChain(folder: string, files: ChainFile[], kept: AuditHead | undefined): ChainEnd {
  let torn = 0;
  for (let newest = files.at(-1); newest; newest = files.at(-1)) {
    const file = openFile(folder, newest.name);
    const end = readEnd(file);
    torn += end.torn;
    file.size -= end.torn;
    if (end.torn > 0) ftruncateSync(file.fd, file.size);
    if (file.size > 0) return { file, torn, ...endOf(file, end.line, newest.first, kept) };
    // The process ended before the first record of the file was written.
    closeSync(file.fd);
    rmSync(join(folder, newest.name));
    files.pop();
  }
  return { head: kept ?? EMPTY, keptFrom: 1, torn, isHeadless: false };
}

function endOf(file: OpenFile, line: string, first: number, kept: AuditHead | undefined) {
  const last = readAuditLine(line);
  const begun = readBeginning(file);
  const head = last && last.seq > (kept?.seq ?? 0) ? { seq: last.seq, hash: last.hash } : kept;
  return {
    // Without any trustworthy end, the check of the chain finds the damage before this place.
    head: head ?? { seq: first, hash: EMPTY.hash },
    keptFrom: begun?.kind === "log-opened" ? begun.keptFrom : 1,
    isHeadless: !kept,
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

/** The first record of a file. It says which records are kept. */
function readBeginning({ fd, size }: OpenFile): AuditRecord | undefined {
  const bytes = readPart(fd, 0, Math.min(size, MAX_LINE_BYTES));
  return readAuditLine(bytes.toString("utf8", 0, Math.max(0, bytes.indexOf(10))));
}

function readPart(fd: number, start: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, length === 0 ? 0 : readSync(fd, bytes, 0, length, start));
}

/** Opens a file for its owner alone, and follows no link. */
function openFile(folder: string, name: string, append: number = O_APPEND): OpenFile {
  const fd = openSync(join(folder, name), O_RDWR | O_CREAT | O_NOFOLLOW | append, 0o600);
  return { fd, size: fstatSync(fd).size };
}
