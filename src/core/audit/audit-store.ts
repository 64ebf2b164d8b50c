import { hash } from "node:crypto";
import { toVisibleJson } from "../../base/safety/visible-text.ts";
import type { Kind } from "../../search/port/search-index.ts";
import type { Lane } from "../nouns/entry.ts";

/** A call of an entry as records name it. */
export interface AuditedCall {
  /** Ties the records of one call together. */
  readonly call: string;
  /** The request that the call belongs to, as in events and answers. */
  readonly traceId: string;
  /** The trace of the caller in the format of W3C Trace Context. */
  readonly traceparent?: string;
  /** The caller. */
  readonly actor: string;
  /** The principal whose rights count: the actor, or the principal that it looks as. */
  readonly principal: string;
  readonly op: string;
  readonly route: string;
  readonly entryKind: Kind;
  readonly lane: Lane;
  /** SHA-256 of the definition that runs. */
  readonly definition: string;
  /** Declared arguments by type and size, such as `{ title: "string(12)" }`. Never values. */
  readonly args: Readonly<Record<string, string>>;
}

/** A fact in the audit log. Arguments and results appear by shape, never by value. */
export type AuditEvent =
  | (AuditedCall & {
      readonly kind: "call-started";
      readonly decided: "run" | "dry-run" | "approved";
      readonly approvedBy?: string;
    })
  | (Pick<AuditedCall, "call" | "traceId" | "actor" | "principal" | "op" | "route"> & {
      readonly kind: "call-ended";
      /** `ok`, or the code of the problem. */
      readonly outcome: string;
      readonly ms: number;
      /** The result by type and size. Absent if the call failed. */
      readonly result?: string;
    })
  /** The call did not run. `asked`: a person declined or could not be asked. */
  | (AuditedCall & {
      readonly kind: "call-refused";
      readonly decided: "refused" | "asked";
      readonly outcome: string;
    })
  /** The face asks a person. If they agree, the call runs under its own record. */
  | (AuditedCall & { readonly kind: "call-asked" })
  /** The answer came from an idempotency key; nothing ran. */
  | (AuditedCall & { readonly kind: "call-repeated" })
  /** A person allowed or rejected something, or revoked an earlier decision. */
  | {
      readonly kind: "allowed" | "rejected" | "revoked";
      /** The person or program that decided. */
      readonly actor: string;
      /** The owner of the gateway. */
      readonly principal: string;
      readonly what: "definition" | "server" | "folder" | "token";
      readonly name: string;
      /** SHA-256 of exactly what they decided about. */
      readonly digest: string;
    }
  /** A store begins a file or continues a log. */
  | {
      readonly kind: "log-opened";
      readonly pid: number;
      /** The oldest record still stored. The limits of the store deleted earlier ones. */
      readonly keptFrom: number;
      /** Bytes of an unfinished record that were cut off after a crash. */
      readonly torn?: number;
      /** Events lost because the log could not be written. */
      readonly dropped?: number;
      /** The head was missing or unreadable, so cut-off records would go unnoticed. */
      readonly headless?: true;
    };

/** An event at its position. `hash` covers the whole record, `prev` is the hash of the record before it. */
export type AuditRecord = AuditEvent & {
  readonly hash: string;
  /** Counts from 1 without gaps. */
  readonly seq: number;
  readonly prev: string;
  /** ISO 8601. */
  readonly at: string;
};

/** The last record of a chain. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** A record as it is stored. */
export interface AuditLine {
  /** One line of JSON. The hash covers its exact bytes. */
  readonly text: string;
  /** Its location, such as a file and a line. */
  readonly place: string;
}

/** Records chained by their hashes. Each process that writes at the same time has its own chain. */
export interface AuditChain {
  readonly name: string;
  /** The head, stored apart from the records to detect a cut-off end. */
  readonly head: AuditHead | undefined;
  /** The lines in order, without those before record `from` where skipping is cheap. */
  lines(from?: number): AsyncIterable<AuditLine>;
}

/** An append-only log in which each record is chained to the one before it. See {@link createFileAuditStore}. */
export interface AuditStore {
  /** Queues an event. It is written soon, in order; memory is bounded. Must not throw. */
  add(event: AuditEvent): void;
  /**
   * Resolves when every queued event survives a crash of this process. If they cannot be written, rejects within
   * seconds; the store keeps them and retries.
   */
  flush(): Promise<void>;
  chains(): Promise<readonly AuditChain[]>;
  /** Writes the waiting events and releases the log. */
  close(): Promise<void>;
}

/** The head of an empty chain. */
export const EMPTY: AuditHead = { seq: 0, hash: "0".repeat(64) };

const LINE = /^\{"hash":"([0-9a-f]{64})",(.+\})$/;

/** An event and its time in milliseconds since 1970. */
export interface TimedEvent {
  readonly event: AuditEvent;
  readonly at: number;
}

/** Formats events as the lines after `head`. Returns the new head too. */
export function toAuditLines(head: AuditHead, events: readonly TimedEvent[]) {
  let last = head;
  const texts = events.map(({ event, at }) => {
    const line = toAuditLine(last, event, at);
    last = line.head;
    return line.text;
  });
  return { texts, head: last };
}

/** Formats an event as the line after `head`. The line is safe to print in a terminal. */
export function toAuditLine(
  head: AuditHead,
  event: AuditEvent,
  at: number,
): { readonly text: string; readonly head: AuditHead } {
  const seq = head.seq + 1;
  const facts = toVisibleJson(JSON.stringify(event)).slice(1);
  const fields = `"seq":${seq},"prev":"${head.hash}","at":"${new Date(at).toISOString()}",${facts}`;
  const digest = hash("sha256", fields);
  return { text: `{"hash":"${digest}",${fields}`, head: { seq, hash: digest } };
}

/** Reads a line. Undefined if it is not a record, or its hash does not match. */
export function readAuditLine(text: string): AuditRecord | undefined {
  const [, recordHash, rest = ""] = LINE.exec(text) ?? [];
  if (recordHash === undefined || hash("sha256", rest) !== recordHash) return undefined;
  try {
    const record = JSON.parse(text) as AuditRecord;
    return Number.isSafeInteger(record.seq) && typeof record.prev === "string" ? record : undefined;
  } catch {
    return undefined;
  }
}
