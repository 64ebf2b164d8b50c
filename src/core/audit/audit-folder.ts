import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditChain, AuditHead, AuditLine } from "./audit-store.ts";

/** A file of a chain, named after the chain and the first record in it. */
export interface ChainFile {
  readonly chain: number;
  readonly first: number;
  readonly name: string;
}

const FILE = /^(\d{1,4})-(\d{12})\.jsonl$/;
const HEAD = /^(\d{16}) ([0-9a-f]{64})\n$/;
/** Longer lines are not records. */
export const MAX_LINE_BYTES = 256 * 1024;

export function fileName(chain: number, first: number): string {
  return `${chain}-${String(first).padStart(12, "0")}.jsonl`;
}

export function headName(chain: number): string {
  return `${chain}.head`;
}

export function toHeadText({ seq, hash }: AuditHead): string {
  return `${String(seq).padStart(16, "0")} ${hash}\n`;
}

/** Undefined if the head is missing or damaged. */
export function readHead(folder: string, chain: number): AuditHead | undefined {
  try {
    const [, seq, hash] = HEAD.exec(readFileSync(join(folder, headName(chain)), "utf8")) ?? [];
    return hash === undefined ? undefined : { seq: Number(seq), hash };
  } catch {
    return undefined;
  }
}

/** The files of all chains, ordered by chain and record. */
export function listChainFiles(folder: string): ChainFile[] {
  return filesIn(folder)
    .flatMap((file) => {
      const [name, chain, first] = FILE.exec(file) ?? [];
      return name === undefined ? [] : [{ chain: Number(chain), first: Number(first), name }];
    })
    .sort((left, right) => left.chain - right.chain || left.first - right.first);
}

/** Reads the chains of a folder without a lock: a log can be read while it is written. */
export function readAuditFolder(folder: string): AuditChain[] {
  const files = Map.groupBy(listChainFiles(folder), ({ chain }) => chain);
  const heads = filesIn(folder).flatMap((name) => {
    const chain = /^(\d{1,4})\.head$/.exec(name)?.[1];
    return chain === undefined ? [] : [Number(chain)];
  });
  return [...new Set([...files.keys(), ...heads])]
    .sort((left, right) => left - right)
    .map((chain) => ({
      name: `chain ${chain}`,
      head: readHead(folder, chain),
      lines: (from) => linesOf(folder, files.get(chain) ?? [], from),
    }));
}

/** Empty if the folder does not exist. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const items = readdirSync(folder, { withFileTypes: true });
  return items.filter((item) => item.isFile()).map(({ name }) => name);
}

async function* linesOf(
  folder: string,
  files: readonly ChainFile[],
  from = 1,
): AsyncGenerator<AuditLine, void> {
  for (const [at, { name }] of files.entries()) {
    const next = files[at + 1];
    if (next && next.first <= from) continue;
    let count = 0;
    for await (const { text, isWhole } of splitLines(join(folder, name))) {
      count += 1;
      // The end of the last file may be a record in the middle of a write.
      if (isWhole || next) yield { text, place: `${name}:${count}` };
    }
  }
}

async function* splitLines(path: string): AsyncGenerator<{ text: string; isWhole: boolean }, void> {
  let unread: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    const bytes = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      yield { text: bytes.toString("utf8", start, end), isWhole: true };
      start = end + 1;
    }
    unread = bytes.subarray(start);
    if (unread.length > MAX_LINE_BYTES) {
      yield { text: unread.toString("utf8", 0, MAX_LINE_BYTES), isWhole: true };
      return;
    }
  }
  if (unread.length > 0) yield { text: unread.toString(), isWhole: false };
}
