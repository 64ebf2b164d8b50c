import { checkAfter } from "../../base/util/single-flight.ts";
import {
  type AuditChain,
  type AuditEvent,
  type AuditHead,
  type AuditLine,
  type AuditStore,
  EMPTY,
  type TimedEvent,
  toAuditLines,
} from "../../core/audit/audit-store.ts";
import type { Database } from "./database.ts";
import type { Membership } from "./gateways.ts";

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
export class PostgresAudit implements AuditStore {
  private readonly database: Database;
  private readonly gateway: Membership;
  private waiting: TimedEvent[] = [];
  private dropped = 0;
  private own: OwnChain | undefined;
  private isOpening = true;
  /** The head after a write that seemed to fail, and the events in it. */
  private doubtful: { readonly hash: string; readonly events: number } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  readonly flush = checkAfter(() => this.write());

  constructor(database: Database, gateway: Membership) {
    this.database = database;
    this.gateway = gateway;
  }

  add(event: AuditEvent): void {
    this.waiting.push({ event, at: Date.now() });
    // The first ones may be on their way to the database, so the newest goes.
    if (this.waiting.length > MAX_WAITING) {
      this.waiting.pop();
      this.dropped += 1;
    }
    this.later(WRITE_MS);
  }

  async chains(): Promise<readonly AuditChain[]> {
    const { chains } = this.database.tables;
    const rows = await this.database.query(`select chain, seq::text, hash from ${chains} c order by c.chain`);
    return rows.map(
      ({ chain, seq, hash }): AuditChain => ({
        name: `chain ${chain}`,
        head: { seq: Number(seq), hash: String(hash) },
        lines: (from) => this.linesOf(Number(chain), from),
      }),
    );
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.flush();
  }

  /** Takes the chain that it has, one whose gateway has ended, or a new one. */
  private async take(): Promise<OwnChain> {
    const { chains } = this.database.tables;
    const [row] = await this.database.query(
      `update ${chains} set gateway = $1 where chain = (
         select c.chain from ${chains} c where c.gateway = $1 or not ${this.gateway.isAlive("c.gateway")}
         order by c.gateway <> $1, c.chain limit 1 for update skip locked
       ) returning chain, seq::text, hash, kept_from::text`,
      [this.gateway.id],
    );
    const [taken] = row
      ? [row]
      : await this.database.query(
          `insert into ${chains} (gateway, seq, hash, kept_from) values ($1, 0, $2, 1)
           returning chain, seq::text, hash, kept_from::text`,
          [this.gateway.id, EMPTY.hash],
        );
    const head = { seq: Number(taken?.seq), hash: String(taken?.hash) };
    return { chain: Number(taken?.chain), head, keptFrom: Number(taken?.kept_from) };
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    try {
      while (this.waiting.length > 0) await this.writeChunk();
    } catch (error) {
      this.own = undefined;
      this.later(TRY_AGAIN_MS);
      throw error;
    }
  }

  /** Opens a chain. The events of a write that seemed to fail may be in it already. */
  private async open(): Promise<OwnChain> {
    const own = await this.take();
    this.isOpening = true;
    if (this.doubtful?.hash === own.head.hash) this.waiting = this.waiting.slice(this.doubtful.events);
    this.doubtful = undefined;
    return own;
  }

  private async writeChunk(): Promise<void> {
    this.own ??= await this.open();
    if (this.waiting.length === 0) return;
    const { audit, chains } = this.database.tables;
    const { chain, head } = this.own;
    const events = this.waiting.slice(0, CHUNK);
    const isSweep = head.seq % SWEEP_EVERY > (head.seq + events.length) % SWEEP_EVERY;
    const keptFrom = isSweep ? Math.max(this.own.keptFrom, head.seq - MAX_RECORDS) : this.own.keptFrom;
    const facts = { keptFrom, ...(this.dropped > 0 && { dropped: this.dropped }) };
    const opening: AuditEvent = { kind: "log-opened", pid: process.pid, ...facts };
    const isAdmitting = this.isOpening || this.dropped > 0 || keptFrom > this.own.keptFrom;
    const all = isAdmitting ? [{ event: opening, at: events[0]!.at }, ...events] : events;
    const { texts, head: next } = toAuditLines(head, all);
    this.doubtful = { hash: next.hash, events: events.length };
    const rows = await this.database.query(
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
      [chain, this.gateway.id, next.seq, next.hash, keptFrom, head.seq, texts],
    );
    this.doubtful = undefined;
    if (rows.length === 0) {
      // Another gateway thought this one had ended.
      this.own = undefined;
      return;
    }
    this.own = { chain, head: next, keptFrom };
    this.waiting = this.waiting.slice(events.length);
    this.dropped = 0;
    this.isOpening = false;
  }

  private later(ms: number): void {
    if (this.closed) return;
    // The next flush tells of a failure, and the events wait.
    this.timer ??= setTimeout(() => void this.flush().catch(() => {}), ms).unref();
  }

  private async *linesOf(chain: number, from = 1): AsyncGenerator<AuditLine, void> {
    const { audit } = this.database.tables;
    for (let next = from; ; ) {
      const rows = await this.database.query(
        `select seq::text, line from ${audit} a where a.chain = $1 and a.seq >= $2 order by a.seq limit ${PAGE}`,
        [chain, next],
      );
      for (const { seq, line } of rows) yield { text: String(line), place: `${chain}:${seq}` };
      if (rows.length < PAGE) return;
      next = Number(rows.at(-1)!.seq) + 1;
    }
  }
}
