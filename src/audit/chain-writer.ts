import {
  chmodSync,
  closeSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { problem } from "../schema/problem.ts";
import { holdLock } from "../util/hold-lock.ts";
import { type ChainFile, fileName, headName, listChainFiles, readHead, toHeadText } from "./audit-folder.ts";
import { toAuditLine } from "./audit-line.ts";
import type { AuditEvent } from "./audit-store.ts";
import { type OpenFile, openFile, recoverChain } from "./recover-chain.ts";

/** An event and its time in milliseconds since 1970. */
export interface TimedEvent {
  readonly event: AuditEvent;
  readonly at: number;
}

export interface ChainLimits {
  readonly maxFileBytes: number;
  readonly maxFiles: number;
}

/** Writes one chain of a folder. No other process writes it meanwhile. */
export interface ChainWriter {
  /** Writes events as the next records. After a failure, none of them counts as written and the writer is unusable. */
  write(events: readonly TimedEvent[]): void;
  /** Whether the file was deleted or replaced, so that records would go nowhere. */
  isGone(): boolean;
  /** Flushes the file to the disk. */
  sync(): Promise<void>;
  close(): void;
}

const MAX_CHAINS = 64;
const datasync = promisify(fdatasync);

/**
 * Takes the first chain that no process writes, or begins one, cuts off an unfinished record, and goes on after the
 * last one. The first write also records that the log was opened.
 */
export function openChain(folder: string, limits: ChainLimits, dropped: number): ChainWriter {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
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
    const kept = readHead(folder, chain);
    const found = recoverChain(folder, files, kept);
    file = found.file;
    headFile = openFile(folder, headName(chain), 0).fd;
    let { head, keptFrom } = found;
    let opening: object | undefined = {
      ...(found.torn > 0 && { torn: found.torn }),
      ...(dropped > 0 && { dropped }),
      ...(found.isHeadless && { headless: true }),
    };

    /** Begins the next file, and lets go of the oldest if there are too many. */
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
      write: (events) => {
        const outdated = !file || file.size >= limits.maxFileBytes ? rotate() : [];
        const { fd, size } = file!;
        const first = { kind: "log-opened", pid: process.pid, keptFrom, ...opening } as AuditEvent;
        const all = opening ? [{ event: first, at: events[0]?.at ?? Date.now() }, ...events] : events;
        let text = "";
        let next = head;
        for (const { event, at } of all) {
          const line = toAuditLine(next, event, at);
          text += `${line.text}\n`;
          next = line.head;
        }
        try {
          file!.size += writeAll(fd, text);
          writeSync(headFile!, toHeadText(next), 0);
        } catch (error) {
          ftruncateSync(fd, size);
          throw error;
        }
        head = next;
        opening = undefined;
        for (const { name } of outdated) rmSync(join(folder, name), { force: true });
      },
      isGone: () => file !== undefined && fstatSync(file.fd).nlink === 0,
      sync: async () => {
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

/** A write may take only a part of the bytes. */
function writeAll(fd: number, text: string): number {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
  return bytes.length;
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
