import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type ChainFile, MAX_LINE_BYTES } from "./audit-folder.ts";
import { EMPTY, readAuditLine } from "./audit-line.ts";
import type { AuditHead, AuditRecord } from "./audit-store.ts";

export interface OpenFile {
  readonly fd: number;
  size: number;
}

/** The end of a chain, where it goes on. */
export interface ChainEnd {
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
export function recoverChain(folder: string, files: ChainFile[], kept: AuditHead | undefined): ChainEnd {
  let torn = 0;
  for (let newest = files.at(-1); newest; newest = files.at(-1)) {
    const file = openFile(folder, newest.name);
    const end = readEnd(file);
    torn += end.torn;
    file.size -= end.torn;
    if (end.torn > 0) ftruncateSync(file.fd, file.size);
    if (file.size > 0) return { file, torn, ...endOf(file, end.line, newest, kept) };
    // The process ended before the first record of the file was written.
    closeSync(file.fd);
    rmSync(join(folder, newest.name));
    files.pop();
  }
  return { head: kept ?? EMPTY, keptFrom: 1, torn, isHeadless: false };
}

function endOf(
  file: OpenFile,
  line: string | undefined,
  { first }: ChainFile,
  kept: AuditHead | undefined,
): Omit<ChainEnd, "file" | "torn"> {
  const last = line === undefined ? undefined : readAuditLine(line);
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
function readEnd({ fd, size }: OpenFile): { line: string | undefined; torn: number } {
  const start = Math.max(0, size - 2 * MAX_LINE_BYTES);
  const bytes = readPart(fd, start, size - start);
  const end = bytes.lastIndexOf(10);
  if (end === -1) return { line: undefined, torn: start === 0 ? size : 0 };
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
export function openFile(folder: string, name: string, append: number = O_APPEND): OpenFile {
  const fd = openSync(join(folder, name), O_RDWR | O_CREAT | O_NOFOLLOW | append, 0o600);
  return { fd, size: fstatSync(fd).size };
}
