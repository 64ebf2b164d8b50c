import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readAuditFolder } from "../src/core/audit/audit-folder.ts";
import {
  type AuditChain,
  type AuditEvent,
  type AuditLine,
  type AuditRecord,
  type AuditStore,
  EMPTY,
  readAuditLine,
  toAuditLine,
} from "../src/core/audit/audit-store.ts";
import { type ChainReport, verifyChain } from "../src/core/audit/verify-chain.ts";

/** An event that tests can tell from others by its name. */
export function allowed(name: string): AuditEvent {
  return { kind: "allowed", actor: "ann", principal: "ann", what: "server", name, digest: "0".repeat(64) };
}

/** The readable records of chains, one chain after the other. */
export async function recordsOf(chains: readonly AuditChain[]): Promise<AuditRecord[]> {
  const records: AuditRecord[] = [];
  for (const chain of chains) {
    for await (const { text } of chain.lines()) {
      const record = readAuditLine(text);
      if (record) records.push(record);
    }
  }
  return records;
}

export function verifyAll(chains: readonly AuditChain[]): Promise<ChainReport[]> {
  return Promise.all(chains.map((chain) => verifyChain(chain)));
}

/** The first bad record of a folder with one chain. */
export async function badIn(folder: string): Promise<ChainReport["bad"]> {
  return (await verifyAll(readAuditFolder(folder)))[0]?.bad;
}

/** The files of records in a folder, in order. */
export function auditFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(folder, name));
}

/** Every byte of a folder as one text. */
export function allBytes(folder: string): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join("\n");
}

/** Keeps the audit log in memory. */
export function createMemoryAuditStore(): AuditStore {
  const lines: AuditLine[] = [];
  let head = EMPTY;
  return {
    add: (event) => {
      const line = toAuditLine(head, event, Date.now());
      ({ head } = line);
      lines.push({ text: line.text, place: `memory:${head.seq}` });
    },
    flush: async () => {},
    chains: async () => [
      {
        name: "memory",
        head,
        lines: async function* (from = 1) {
          yield* lines.slice(from - 1);
        },
      },
    ],
    close: async () => {},
  };
}
