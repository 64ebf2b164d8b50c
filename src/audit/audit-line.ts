import { hash } from "node:crypto";
import { toVisibleJson } from "../util/visible-text.ts";
import type { AuditEvent, AuditHead, AuditRecord } from "./audit-store.ts";

/** The head of an empty chain. */
export const EMPTY: AuditHead = { seq: 0, hash: "0".repeat(64) };

const LINE = /^\{"hash":"([0-9a-f]{64})",(.+\})$/;

/** An event as the line after `head`, with the new head. The line shows in a terminal as it is. */
export function toAuditLine(
  head: AuditHead,
  event: AuditEvent,
  at: number,
): { readonly text: string; readonly head: AuditHead } {
  const seq = head.seq + 1;
  const facts = toVisibleJson(JSON.stringify(event)).slice(1);
  const rest = `"seq":${seq},"prev":"${head.hash}","at":"${new Date(at).toISOString()}",${facts}`;
  const own = hash("sha256", rest);
  return { text: `{"hash":"${own}",${rest}`, head: { seq, hash: own } };
}

/** Reads a line. Undefined if it is not a record, or not the record that its hash stands for. */
export function readAuditLine(text: string): AuditRecord | undefined {
  const [, own, rest = ""] = LINE.exec(text) ?? [];
  if (own === undefined || hash("sha256", rest) !== own) return undefined;
  try {
    const record = JSON.parse(text) as AuditRecord;
    return Number.isSafeInteger(record.seq) && typeof record.prev === "string" ? record : undefined;
  } catch {
    return undefined;
  }
}
