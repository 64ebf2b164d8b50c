import { hash } from "node:crypto";
import { toVisibleJson } from "../../base/safety/visible-text.ts";
import type { Kind } from "../../search/port/search-index.ts";
import type { Lane } from "../nouns/entry.ts";

/** A call of an entry, as its records name it. */
export interface AuditedCall {
  /** Ties the records of one call together. */
  readonly call: string;
  /** The request that the call belongs to, as in events and answers. */
  readonly traceId: string;
  /** The trace of the caller in the format of W3C Trace Context. */
  readonly traceparent?: string;
  /** The caller. */
  readonly actor: string;
  /** The principal whose rights count: the actor, or the one that the actor looks as. */
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

/** A fact that the audit log keeps. Arguments and results appear by shape, never by value. */
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
  /** The call did not run. `asked`: it needed a person, who declined or could not be asked. */
  | (AuditedCall & {
      readonly kind: "call-refused";
      readonly decided: "refused" | "asked";
      readonly outcome: string;
    })
  /** The face puts the question to a person. The call runs, if they agree, under a record of its own. */
  | (AuditedCall & { readonly kind: "call-asked" })
  /** The answer came from an idempotency key; nothing ran. */
  | (AuditedCall & { readonly kind: "call-repeated" })
  /** A person allowed something, rejected it, or took an earlier decision back. */
  | {
      readonly kind: "allowed" | "rejected" | "revoked";
      /** The person or program that decided. */
      readonly actor: string;
      /** The owner of the gateway. */
      readonly principal: string;
      readonly what: "definition" | "server" | "folder" | "token";
      readonly name: string;
      /** SHA-256 of exactly what they allowed. */
      readonly digest: string;
    }
  /** A store begins a file or continues a log. */
  | {
      readonly kind: "log-opened";
      readonly pid: number;
      /** The oldest record that is kept. Earlier ones were deleted, as the limits of the store say. */
      readonly keptFrom: number;
      /** Bytes of an unfinished record that were cut off after a crash. */
      readonly torn?: number;
      /** Events that found no room while the log could not be written. */
      readonly dropped?: number;
      /** The head was missing or unreadable, so the store cannot know whether records were cut off. */
      readonly headless?: true;
    };

/** An event in its place. `hash` covers the whole record, `prev` is the hash of the record before it. */
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
  /** One line of JSON. The hash is over its exact bytes. */
  readonly text: string;
  /** The place that stores it, such as a file and a line. */
  readonly place: string;
}

/** Records that are chained by their hashes. A log has several chains if several processes write at the same time. */
export interface AuditChain {
  readonly name: string;
  /** The head that the store keeps apart from the records, so that a cut-off end is found. */
  readonly head: AuditHead | undefined;
  /** The lines in order, those before record `from` left out where that is cheap. */
  lines(from?: number): AsyncIterable<AuditLine>;
}

/**
 * Keeps the audit log: append-only, each record chained to the one before it. {@link createFileAuditStore} is one.
 */
export interface AuditStore {
  /** Takes an event. It is written soon, in order; memory is bounded. Must not throw. */
  add(event: AuditEvent): void;
  /**
   * Resolves when every event taken so far survives a crash of this process. Fails within seconds if they cannot be
   * written; the store keeps them and tries again later.
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

/** Events as the lines after `head`, with the new head. */
export function toAuditLines(head: AuditHead, events: readonly TimedEvent[]) {
  let last = head;
  const texts = events.map(({ event, at }) => {
    const line = toAuditLine(last, event, at);
    last = line.head;
    return line.text;
  });
  return { texts, head: last };
}

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
