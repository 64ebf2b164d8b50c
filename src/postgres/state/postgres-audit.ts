import { checkAfter } from "../../base/util/single-flight.ts";
import {
  type AuditChain,
  type AuditEvent,
  type AuditHead,
  type AuditLine,
  type AuditStore,
  EMPTY,
  toAuditLine,
} from "../../core/audit/audit-store.ts";
import type { Database } from "./database.ts";
import type { Membership } from "./gateways.ts";

interface StoredAuditEvent {
  readonly event: AuditEvent;
  readonly at: number;
}

/** The chain that this gateway writes. */
interface OwnChain {
  readonly chain: number;
  readonly head: AuditHead;
  readonly keptFrom: number;
}

const MAX_WAITING = 10_000;
const MAX_RECORDS = 1_000_000;
/** Old records go after this many new ones. */
const SWEEP_EVERY = 10_000;
const CHUNK = 256;
const PAGE = 1_000;
/** How long the end of a call may wait to be written. */
const WRITE_MS = 20;
const TRY_AGAIN_MS = 1_000;

/**
 * Keeps the audit log in PostgreSQL. Each gateway writes a chain of its own, so that none waits for another, and goes
 * on with a chain whose gateway has ended. A chain moves only from the head that its writer knows.
 */
export function createPostgresAudit(
  { tables: { audit, chains }, query }: Database,
  gateway: Membership,
): AuditStore {
  let waiting: StoredAuditEvent[] = [];
  let dropped = 0;
  let own: OwnChain | undefined;
  let isOpening = true;
  /** The head after a write that seemed to fail, and the events in it. */
  let doubtful: { readonly hash: string; readonly events: number } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  /** Takes the chain that it has, one whose gateway has ended, or a new one. */
  async function take(): Promise<OwnChain> {
    const [row] = await query(
      `update ${chains} set gateway = $1 where chain = (
         select c.chain from ${chains} c where c.gateway = $1 or not ${gateway.isAlive("c.gateway")}
         order by c.gateway <> $1, c.chain limit 1 for update skip locked
       ) returning chain, seq::text, hash, kept_from::text`,
      [gateway.id],
    );
    const [taken] = row
      ? [row]
      : await query(
          `insert into ${chains} (gateway, seq, hash, kept_from) values ($1, 0, $2, 1)
           returning chain, seq::text, hash, kept_from::text`,
          [gateway.id, EMPTY.hash],
        );
    const head = { seq: Number(taken?.seq), hash: String(taken?.hash) };
    return { chain: Number(taken?.chain), head, keptFrom: Number(taken?.kept_from) };
  }

  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    try {
      while (waiting.length > 0) await writeChunk();
    } catch (error) {
      own = undefined;
      later(TRY_AGAIN_MS);
      throw error;
    }
  }

  async function writeChunk(): Promise<void> {
    if (!own) {
      own = await take();
      isOpening = true;
      if (doubtful?.hash === own.head.hash) waiting = waiting.slice(doubtful.events);
      doubtful = undefined;
      if (waiting.length === 0) return;
    }
    const { chain, head } = own;
    const events = waiting.slice(0, CHUNK);
    const isSweep = head.seq % SWEEP_EVERY > (head.seq + events.length) % SWEEP_EVERY;
    const keptFrom = isSweep ? Math.max(own.keptFrom, head.seq - MAX_RECORDS) : own.keptFrom;
    const facts = { keptFrom, ...(dropped > 0 && { dropped }) };
    const opening: AuditEvent = { kind: "log-opened", pid: process.pid, ...facts };
    const isAdmitting = isOpening || dropped > 0 || keptFrom > own.keptFrom;
    const all = isAdmitting ? [{ event: opening, at: events[0]!.at }, ...events] : events;
    const texts: string[] = [];
    let next = head;
    for (const { event, at } of all) {
      const line = toAuditLine(next, event, at);
      texts.push(line.text);
      next = line.head;
    }
    doubtful = { hash: next.hash, events: events.length };
    const rows = await query(
      `with moved as (
         update ${chains} set seq = $3, hash = $4, kept_from = $5
         where chain = $1 and gateway = $2 and seq = $6 returning chain
       ), gone as (
         delete from ${audit} where chain in (select chain from moved) and seq < $5
       )
       insert into ${audit} (chain, seq, line)
         select moved.chain, $6::bigint + given.place, given.line
         from moved, unnest($7::text[]) with ordinality as given(line, place)
       returning 1`,
      [chain, gateway.id, next.seq, next.hash, keptFrom, head.seq, texts],
    );
    doubtful = undefined;
    if (rows.length === 0) {
      // Another gateway thought this one had ended.
      own = undefined;
      return;
    }
    own = { chain, head: next, keptFrom };
    waiting = waiting.slice(events.length);
    dropped = 0;
    isOpening = false;
  }

  const flush = checkAfter(write);
  function later(ms: number): void {
    if (closed) return;
    // The next flush tells of a failure, and the events wait.
    timer ??= setTimeout(() => void flush().catch(() => {}), ms).unref();
  }

  async function* linesOf(chain: number, from = 1): AsyncGenerator<AuditLine, void> {
    for (let next = from; ; ) {
      const rows = await query(
        `select seq::text, line from ${audit} a where a.chain = $1 and a.seq >= $2 order by a.seq limit ${PAGE}`,
        [chain, next],
      );
      for (const { seq, line } of rows) yield { text: String(line), place: `${chain}:${seq}` };
      if (rows.length < PAGE) return;
      next = Number(rows.at(-1)!.seq) + 1;
    }
  }

  return {
    add: (event) => {
      waiting.push({ event, at: Date.now() });
      // The first ones may be on their way to the database, so the newest goes.
      if (waiting.length > MAX_WAITING) {
        waiting.pop();
        dropped += 1;
      }
      later(WRITE_MS);
    },
    flush,
    chains: async () => {
      const rows = await query(`select chain, seq::text, hash from ${chains} c order by c.chain`);
      return rows.map(
        ({ chain, seq, hash }): AuditChain => ({
          name: `chain ${chain}`,
          head: { seq: Number(seq), hash: String(hash) },
          lines: (from) => linesOf(Number(chain), from),
        }),
      );
    },
    close: async () => {
      closed = true;
      await flush();
    },
  };
}
